import { afterAll, beforeAll, expect, it } from 'vitest'
import { openLog } from '../../src/logs/append.ts'
import { ask, data, type Json, streamSocket } from '../support/client.ts'
import { append, out } from '../support/log.ts'
import { startServer, type TestServer } from '../support/server.ts'

/** What a page of output is bounded by, and how far its offsets go. */
let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server[Symbol.asyncDispose]())

type Pieces = Parameters<typeof append>[2]['pieces']

async function jobWith(pieces: Pieces): Promise<string> {
  const id = await server.submit()
  const { sql } = server.domain.db
  const [run] = await sql.query<{ id: string }>('SELECT id FROM run WHERE job_id = $1', [id])
  await append(sql, await openLog(sql, run?.id ?? ''), { pieces, position: null, bytesMax: 2 ** 40 })
  return id
}

const logs = (id: string, args: string) =>
  ask(server.url, `query ($id: ID!) { job(id: $id) { logs${args} { text cursor gaps { startOffset endOffset } } } }`, {
    id,
  })

it.each(['(first: 0)', '(first: -1)', '(first: 5001)', '(lastLines: 0)', '(lastLines: 5001)'])(
  'a page of output is not %s',
  async (args) => {
    const { errors } = await logs(await server.submit(), args)
    expect(errors?.[0]?.extensions.code).toBe('BAD_REQUEST')
  },
)

it('a page of output has 500 lines unless asked, 5,000 at most, and 1 MiB', async () => {
  const short = await jobWith([out('x\n'.repeat(6_000))])
  const textOf = async (id: string, args: string) => ((await logs(id, args)).data as Json).job.logs.text as string
  expect((await textOf(short, '')).length).toBe(2 * 500)
  expect((await textOf(short, '(first: 5000)')).length).toBe(2 * 5_000)
  const long = await jobWith([out(`${'y'.repeat(999)}\n`.repeat(5_000))])
  const bytes = (await textOf(long, '(first: 5000)')).length
  expect(bytes).toBeGreaterThan(2 ** 19)
  expect(bytes).toBeLessThanOrEqual(2 ** 20)
})

it('output goes on beyond 4 GiB, in pages and in a tail', async () => {
  const bytes = 5 * 2 ** 30
  const id = await jobWith([{ gap: 'LOST', bytes }, out('after it\n')])
  const { job } = await data(
    server.url,
    'query ($id: ID!) { job(id: $id) { logs { text cursor gaps { startOffset endOffset } } } }',
    { id },
  )
  expect(job.logs).toMatchObject({ text: 'after it\n', gaps: [{ startOffset: 0, endOffset: bytes }] })
  const stream = streamSocket(
    server.url,
    `subscription ($id: ID!) { tail(jobId: $id) { ... on LogGap { startOffset endOffset cursor }
      ... on LogBatch { text startOffset endOffset cursor } } }`,
    { id },
  )
  const gap = (await stream.next()).value?.data?.['tail']
  expect(gap).toMatchObject({ startOffset: 0, endOffset: bytes })
  const batch = (await stream.next()).value?.data?.['tail']
  expect(batch).toMatchObject({ text: 'after it\n', startOffset: bytes, endOffset: bytes + 9, cursor: job.logs.cursor })
  stream.cut()
})
