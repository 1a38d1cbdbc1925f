import {
  type GraphQLArgument,
  GraphQLError,
  type GraphQLInputField,
  type GraphQLInputType,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isUnionType,
} from 'graphql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { anonymous } from '../../../src/domain/access.ts'
import { readListCap } from '../../../src/graphql/admission/argument-bounds.ts'
import { limits } from '../../../src/graphql/caller-limits.ts'
import { errorsMax, limitErrors } from '../../../src/graphql/errors.ts'
import { schema } from '../../../src/graphql/schema/schema.ts'
import { ask, type Json, type Result, send, transports } from '../../support/client.ts'
import { cpuMs } from '../../support/cpu.ts'
import { openTestServer, startServer, type TestServer } from '../../support/server.ts'

/** Variables, bodies, parameters and lists are checked before they cost anything. */
const server = await openTestServer()

const codesOf = (result: Result) => result.errors?.map(({ extensions }) => extensions.code)
const submit = 'mutation ($input: SubmitJobInput!) { submitJob(input: $input) { __typename } }'
const unknownKeys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`unknown${i}`, i]))

describe.each(Object.entries(transports))('the variables of a request over %s', (_name, transport) => {
  it('with thousands of unknown keys are refused with only the first errors', async () => {
    const started = cpuMs()
    const { errors } = await transport(server.url, submit, { input: { spec: unknownKeys(3_000) } })
    expect(errors).toHaveLength(errorsMax)
    expect(new Set(errors?.map(({ extensions }) => extensions.code))).toEqual(new Set(['BAD_REQUEST']))
    expect(errors?.[0]?.message).toContain(
      'Variable "$input.spec": Field "unknown0" is not defined by type "JobSpecInput"',
    )
    expect(cpuMs() - started).toBeLessThan(3_000)
  })

  it('with long values are shortened in the error message', async () => {
    const { errors } = await transport(server.url, 'query ($n: Int) { jobs(first: $n) { nodes { id } } }', {
      n: 'x'.repeat(50_000),
    })
    expect(errors?.[0]?.message.length).toBeLessThan(1_100)
  })

  it.each([
    ['NUL', 'a\0'],
    ['half a surrogate pair', '\ud800'],
  ])('with %s in a filter are refused', async (_what, value) => {
    const query = 'query ($f: JobFilter) { jobs(filter: $f) { nodes { id } } }'
    for (const filter of [{ labels: [{ key: 'k', value }] }, { labels: [{ key: value }] }, { name: value }])
      expect(codesOf(await transport(server.url, query, { f: filter }))).toEqual(['BAD_REQUEST'])
  })

  it('are refused in a subscription as in a query', async () => {
    const query =
      'subscription ($id: ID!, $streams: [LogStream!]) { tail(jobId: $id, streams: $streams) { __typename } }'
    const variables = { id: await server.submit(), streams: ['STDOUT', 'STDERR', 'SYSTEM', 'STDOUT'] }
    const { errors } = await transport(server.url, query, variables)
    expect(errors?.[0]?.message).toContain('Must have at most 3 entries')
  })
})

it('a request body with too many JSON values is refused before parsing, also if it accepts a stream', async () => {
  const body = JSON.stringify({ query: '{ __typename }', variables: { x: Array(limits.bodyValuesMax).fill({}) } })
  for (const accept of ['application/json', 'text/event-stream']) {
    const answer = await send(server.url, { headers: { 'content-type': 'application/json', accept }, body })
    expect(answer.status).toBe(400)
    expect(codesOf(JSON.parse(answer.text))).toEqual(['QUERY_TOO_COMPLEX'])
  }
  const text = JSON.stringify({ query: '{ __typename }', variables: { x: '[,{'.repeat(limits.bodyValuesMax) } })
  expect((await send(server.url, { headers: { 'content-type': 'application/json' }, body: text })).status).toBe(200)
})

it('a document with many errors gets the first errors, and the number of omitted ones', async () => {
  const { errors } = await ask(server.url, `{ jobs { ${'nothing '.repeat(90)}} }`)
  expect(errors).toHaveLength(errorsMax)
  const result = limitErrors({ data: {}, errors: Array(errorsMax + 7).fill(new GraphQLError('no')) })
  expect([result.errors?.length, result.extensions]).toEqual([errorsMax, { errorsLeftOut: 7 }])
})

describe('a GET request', () => {
  const get = (query: string) =>
    send(server.url, { method: 'GET', path: `/graphql?query=${encodeURIComponent('{ __typename }')}&${query}` })

  it.each(['variables=%7B%22a%22:', 'variables=x', 'variables=[]', 'extensions=%7B'])(
    'with %s is refused with BAD_REQUEST',
    async (query) => {
      const { status, text } = await get(query)
      expect(status).toBe(400)
      expect(codesOf(JSON.parse(text))).toEqual(['BAD_REQUEST'])
    },
  )

  it.each([
    ['cross-site', 403],
    ['same-site', 403],
    ['same-origin', 200],
    ['none', 200],
  ])('with the header Sec-Fetch-Site: %s gets the status %i', async (site, status) => {
    const path = `/graphql?query=${encodeURIComponent('{ __typename }')}`
    expect((await send(server.url, { method: 'GET', path, headers: { 'sec-fetch-site': site } })).status).toBe(status)
    const headers = { 'sec-fetch-site': site, accept: 'text/html' }
    expect((await send(server.url, { method: 'GET', headers })).status).toBe(status)
  })
})

describe('a caller without a token', () => {
  let guarded: TestServer
  beforeAll(async () => {
    guarded = await startServer({ authenticate: () => anonymous })
  })
  afterAll(() => guarded[Symbol.asyncDispose]())

  it('may read the data that a log-in page needs', async () => {
    const { data } = await ask(guarded.url, '{ serverInfo { name release singleUser oidcIssuer oidcClientId } }')
    expect(data?.['serverInfo']).toMatchObject({ name: 'Berth' })
  })

  it.each([
    ['another field', '{ viewer { permissions } }', {}],
    ['an additional field', '{ serverInfo { name } ...more } fragment more on Query { jobs { nodes { id } } }', {}],
    ['wrong variables, which the server does not check', submit, { input: { spec: unknownKeys(100) } }],
    ['variables of an allowed field', 'query ($a: Boolean!) { serverInfo { name @include(if: $a) } }', { a: true }],
    ['a large body', '{ serverInfo { name } }', { x: 'x'.repeat(20_000) }],
  ])('gets UNAUTHENTICATED for a request with %s', async (_what, query, variables) => {
    const result = await ask(guarded.url, query, variables)
    expect(result.status).toBe(401)
    expect(codesOf(result)).toEqual(['UNAUTHENTICATED'])
  })

  it('has a lower cost limit than other callers', async () => {
    const links = Array.from({ length: 3 }, (_, i) => `a${i}: links { url }`).join(' ')
    const { status, errors } = await ask(guarded.url, `{ serverInfo { ${links} } }`)
    expect([status, errors?.[0]?.extensions.code]).toEqual([400, 'QUERY_TOO_COMPLEX'])
  })
})

it('a scope limit is refused if its project or GPU model is empty or cannot be stored by PostgreSQL', async () => {
  const query = `mutation ($input: SetScopeLimitInput!) { setScopeLimit(input: $input) { ... on Problem { code } } }`
  for (const odd of ['\0', '\ud800', ''])
    for (const named of [{ scope: { project: odd } }, { scope: { project: 'p' }, gpuModel: odd }]) {
      const input = { maxJobs: 1, ...named }
      expect((await ask(server.url, query, { input })).data?.['setScopeLimit']).toEqual({ code: 'INVALID_INPUT' })
    }
})

// ── every list of the schema ──

type Field = GraphQLArgument | GraphQLInputField

interface List {
  name: string
  field: Field
  /** The document with this list, and variables with this number of entries. */
  request: (items: number) => { query: string; variables: object }
}

/** Makes the smallest valid value of a type. */
function least(type: GraphQLInputType): Json {
  const nullable = getNullableType(type)
  if (isListType(nullable)) return [least(nullable.ofType)]
  if (isEnumType(nullable)) return nullable.getValues()[0]?.name
  if (isInputObjectType(nullable)) {
    const fields = Object.values(nullable.getFields())
    const needed = fields.filter(({ type: each }) => isNonNullType(each))
    const given = needed.length === 0 && nullable.isOneOf ? fields.slice(0, 1) : needed
    return Object.fromEntries(given.map((field) => [field.name, least(field.type)]))
  }
  const values: Record<string, Json> = { Int: 1, Float: 1, UInt53: 1, Boolean: true, JSONObject: {}, ID: 'job_x' }
  return values[getNamedType(nullable).name] ?? 'x'
}

/** Paths to the lists in the arguments of a field. Every entry of a list contains its inner lists. */
function listsOf(
  field: Field,
  seen: readonly GraphQLInputType[] = [],
): { field: Field; fill: (items: number) => Json }[] {
  const type = getNullableType(field.type)
  const inner = isListType(type) ? getNullableType(type.ofType) : type
  const own = isListType(type) ? [{ field, fill: (items: number) => Array(items).fill(least(inner)) }] : []
  if (!isInputObjectType(inner) || seen.includes(inner)) return own
  const below = Object.values(inner.getFields()).flatMap((each) =>
    listsOf(each, [...seen, inner]).map(({ field: list, fill }) => ({
      field: list,
      fill: (items: number) => {
        const one = { ...(inner.isOneOf ? {} : least(inner)), [each.name]: fill(items) }
        return isListType(type) ? [one] : one
      },
    })),
  )
  return [...own, ...below]
}

/** The selection in which a refusal is found: for bulk mutations, in their results. */
const wantedOf: Record<string, string> = {
  submitJobs: '... on SubmitJobsSuccess { results { ... on Problem { code } } }',
}

function lists(): List[] {
  return [schema.getQueryType(), schema.getMutationType()].flatMap((root) =>
    Object.values(root?.getFields() ?? {}).flatMap((field) =>
      field.args.flatMap((arg) =>
        listsOf(arg).map(({ field: list, fill }) => ({
          name: `${field.name}(${arg.name}) … ${list.name}`,
          field: list,
          request: (items: number) => {
            const needed = field.args.filter((each) => each !== arg && isNonNullType(each.type))
            const declared = [arg, ...needed]
            const head = declared.map((each) => `$${each.name}: ${each.type}`).join(', ')
            const given = declared.map((each) => `${each.name}: $${each.name}`).join(', ')
            const kind = root === schema.getMutationType() ? 'mutation' : 'query'
            const variables = Object.fromEntries([
              [arg.name, fill(items)],
              ...needed.map((each) => [each.name, least(each.type)]),
            ])
            const out = getNamedType(field.type)
            const hasProblem = isUnionType(out) && out.getTypes().some(({ name }) => name === 'InvalidInputProblem')
            const wanted = `${hasProblem ? '... on Problem { code }' : '__typename'} ${wantedOf[field.name] ?? ''}`
            return { query: `${kind} (${head}) { ${field.name}(${given}) { ${wanted} } }`, variables }
          },
        })),
      ),
    ),
  )
}

describe('a list', () => {
  it('of the schema states its maximum length in its description', () => {
    const uncapped = lists().filter(({ field }) => {
      const cap = readListCap(field)
      return !cap || !field.description?.includes(`At most ${cap.itemsMax.toLocaleString('en-US')}`)
    })
    expect(uncapped.map(({ name }) => name)).toEqual([])
  })

  it.each(lists().map((list) => [list.name, list] as const))(
    'longer than its maximum is refused: %s',
    async (_name, { field, request }) => {
      const { query, variables } = request((readListCap(field)?.itemsMax ?? 0) + 1)
      const result = await ask(server.url, query, variables)
      expect(JSON.stringify(result)).toMatch(/INVALID_INPUT|BAD_REQUEST/)
      expect(JSON.stringify(result)).not.toContain('INTERNAL')
    },
  )
})
