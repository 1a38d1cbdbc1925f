import { beforeAll, expect, test } from 'vitest'
import { limits } from '../../../src/graphql/caller-limits.ts'
import { ask, data, type Json } from '../../support/client.ts'
import { openTestServer } from '../../support/server.ts'

/** Reads pages of jobs whose specs are near the limit of a body. */
let ids: string[]
const longText = 'x'.repeat(3_900_000)
const jobs = 6

const server = await openTestServer()
beforeAll(async () => {
  const submit =
    'mutation ($input: SubmitJobInput!) { submitJob(input: $input) { ... on SubmitJobSuccess { job { id } } } }'
  ids = []
  for (let i = 0; i < jobs; i++) {
    const labels = [
      { key: 'second', value: 'b' },
      { key: 'a', value: String(i) },
    ]
    const input = {
      spec: {
        command: ['true', i < jobs / 2 ? longText : ''],
        labels,
        retry: { maxAttempts: 3 },
        maxRunTimeSeconds: 60 * i,
      },
    }
    ids.push((await data(server.url, submit, { input }))['submitJob'].job.id)
  }
})

const list = (fields: string) => `query ($first: Int, $after: Cursor) { jobs(first: $first, after: $after) {
  nodes { id ${fields} } pageInfo { hasNextPage endCursor } } }`

test('a list does not read the specs of its jobs if no field of them is selected', async () => {
  const statements = server.countStatements()
  const fields = 'name state labels { key value } maxAttempts maxRunTimeSeconds resources { cpu gpu }'
  const { jobs: page } = await data(server.url, list(fields), { first: 60 })
  expect(page.nodes.map(({ id }: Json) => id)).toEqual([...ids].reverse())
  const kept = [
    { key: 'second', value: 'b' },
    { key: 'a', value: '0' },
  ]
  const first = { labels: kept, maxAttempts: 3, maxRunTimeSeconds: null, resources: { cpu: 1, gpu: 0 } }
  expect(page.nodes.at(-1)).toMatchObject(first)
  expect(page.nodes[0]).toMatchObject({ maxRunTimeSeconds: 60 * (jobs - 1) })
  expect(statements.filter((text) => /\bspec\b(?!->)/.test(text))).toEqual([])
})

test('a page with too many long specs is refused, and shorter pages return each job once', async () => {
  const { errors, status } = await ask(server.url, list('spec { command }'), { first: 60 })
  expect([status, errors?.[0]?.extensions.code]).toEqual([400, 'QUERY_TOO_COMPLEX'])
  expect(errors?.[0]?.message).toContain('shorter pages')
  const seen: string[] = []
  for (let after: string | null = null; seen.length < jobs; ) {
    const { jobs: page } = await data(server.url, list('spec { command }'), { first: 1, after })
    seen.push(...page.nodes.map(({ id }: Json) => id))
    expect(page.nodes[0].spec.command[0]).toBe('true')
    after = page.pageInfo.endCursor
    if (!page.pageInfo.hasNextPage) break
  }
  expect(seen).toEqual([...ids].reverse())
})

test.each([
  ['is returned if it is selected once, under any alias', false, '{ a: command }', ''],
  ['is refused if it is selected under two aliases', true, '{ a: command b: command }', ''],
  ['is refused with aliases in fragments', true, '{ a: command ...more }', 'fragment more on JobSpec { b: command }'],
])('a long spec %s', async (_, isRefused, fields, fragments) => {
  const query = `query ($id: ID!) { job(id: $id) { spec ${fields} } } ${fragments}`
  const { errors } = await ask(server.url, query, { id: ids[0] })
  expect(errors?.map(({ extensions }) => extensions.code)).toEqual(isRefused ? ['QUERY_TOO_COMPLEX'] : undefined)
})

test('pages of short specs are full, and each alias of a long spec counts toward the size limit', async () => {
  const { jobs: page } = await data(server.url, list('spec { command }'), { first: jobs / 2 })
  expect(page.nodes).toHaveLength(jobs / 2)
  const again = '{ a: job(id: "ID") { spec { name } } b: job(id: "ID") { spec { name } } }'.replaceAll(
    'ID',
    ids[0] ?? '',
  )
  expect((await ask(server.url, again)).errors?.[0]?.extensions.code).toBe('QUERY_TOO_COMPLEX')
  expect(longText.length).toBeGreaterThan(limits.specBytesMax)
})
