import { expect, it } from 'vitest'
import { ask, data, type Json, streamSocket, streamSse } from '../../support/client.ts'
import { out, replaceRun, writeLog } from '../../support/log.ts'
import { openTestServer } from '../../support/server.ts'

/** Limits of log pages, and large offsets. */
const server = await openTestServer()

type Pieces = Parameters<typeof writeLog>[2]

async function jobWith(pieces: Pieces): Promise<string> {
  const id = await server.submit()
  await writeLog(server.domain.db.sql, id, pieces)
  return id
}

const logs = (id: string, args: string) =>
  ask(server.url, `query ($id: ID!) { job(id: $id) { logs${args} { text cursor gaps { startOffset endOffset } } } }`, {
    id,
  })

it.each(['(first: 0)', '(first: -1)', '(first: 5001)', '(from: { lastLines: 0 })', '(from: { lastLines: 5001 })'])(
  'a page of output with the arguments %s is refused',
  async (args) => {
    const { errors } = await logs(await server.submit(), args)
    expect(errors?.[0]?.extensions.code).toBe('BAD_REQUEST')
  },
)

it('a page of output has 500 lines by default, and at most 5,000 lines and 1 MiB', async () => {
  const short = await jobWith([out('x\n'.repeat(6_000))])
  const textOf = async (id: string, args: string) => ((await logs(id, args)).data as Json).job.logs.text as string
  expect((await textOf(short, '')).length).toBe(2 * 500)
  expect((await textOf(short, '(first: 5000)')).length).toBe(2 * 5_000)
  const long = await jobWith([out(`${'y'.repeat(999)}\n`.repeat(5_000))])
  const bytes = (await textOf(long, '(first: 5000)')).length
  expect(bytes).toBeGreaterThan(2 ** 19)
  expect(bytes).toBeLessThanOrEqual(2 ** 20)
})

it('a page of output has at most 1 MiB as JSON, even if some characters take six bytes', async () => {
  const pieces = Array.from({ length: 40 }, () => out(`${'\u0001'.repeat(63)}\n`.repeat(600)))
  const id = await jobWith([...pieces, out('the end\n')])
  let text = ''
  for (let from = 'null'; !text.endsWith('the end\n'); ) {
    const { job } = (await logs(id, `(first: 5000, from: ${from})`)).data as Json
    expect(Buffer.byteLength(JSON.stringify(job.logs.text))).toBeLessThanOrEqual(2 ** 20 + 2)
    expect(job.logs.text).not.toBe('')
    text += job.logs.text
    from = `{ cursor: ${JSON.stringify(job.logs.cursor)} }`
  }
  expect(text.length).toBe(40 * 600 * 64 + 'the end\n'.length)
})

it.each(['tail over WebSocket', 'tail over SSE'])('a message of %s has at most 1,000 lines', async (over) => {
  const id = await jobWith([out('\n'.repeat(2_500)), out(`${'x'.repeat(9)}\n`.repeat(2_500)), out('the end')])
  const stream = over === 'tail over SSE' ? streamSse : streamSocket
  const query = `subscription ($id: ID!) { tail(jobId: $id, maxBatchBytes: 1048576) {
    ... on LogBatch { text lines { number text } isFinal } } }`
  const lines: { number: number; text: string }[] = []
  let text = ''
  for await (const { data: message } of stream(server.url, query, { id })) {
    const { tail } = message as Json
    if (!tail.lines) continue
    expect(tail.lines.length).toBeLessThanOrEqual(1_000)
    lines.push(...tail.lines)
    text += tail.text
    if (lines.length > 5_000) break
  }
  expect(text).toBe(`${'\n'.repeat(2_500)}${`${'x'.repeat(9)}\n`.repeat(2_500)}the end`)
  expect(lines.map(({ number }) => number)).toEqual(Array.from({ length: 5_001 }, (_, index) => index + 1))
  expect(lines.map((line) => line.text).join('\n')).toBe(text)
})

it('pages and tail return output that follows 4 GiB of output', async () => {
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

const query = `query ($id: ID!, $from: LogStart) { job(id: $id) { logCursor logs(from: $from) { text cursor } } }`
const tail = `subscription ($id: ID!, $after: Cursor) { tail(jobId: $id, after: $after) { __typename
  ... on LogBatch { text } ... on StreamReset { resetReason jobIds } } }`

/** Returns a job and an old cursor; a restore replaced its output with that of another run. */
async function restored() {
  const id = await jobWith([out('before\n')])
  const { job } = await data(server.url, query, { id })
  expect(job.logCursor).toBe(job.logs.cursor)
  await replaceRun(server.domain.db.sql, id)
  await writeLog(server.domain.db.sql, id, [out('another run\n')])
  return { id, after: job.logCursor as string }
}

it.each(Object.entries({ socket: streamSocket, sse: streamSse }))(
  'tail over %s starts again if its cursor is from before the restore of a backup',
  async (_name, open) => {
    const stream = open(server.url, tail, await restored())
    const next = async () => (await stream.next()).value?.data?.['tail']
    expect(await next()).toEqual({ __typename: 'StreamReset', resetReason: 'RETENTION', jobIds: [] })
    expect(await next()).toEqual({ __typename: 'LogBatch', text: 'another run\n' })
    await stream.return?.()
  },
)

it('pages refuse a cursor that is beyond the end, or from before the restore of a backup', async () => {
  const { id, after } = await restored()
  const { job } = await data(server.url, query, { id })
  const content = JSON.parse(Buffer.from(job.logCursor, 'base64url').toString())
  const cursorOf = (fields: object) => Buffer.from(JSON.stringify({ ...content, ...fields })).toString('base64url')
  for (const cursor of [after, cursorOf({ o: 13 }), cursorOf({ m: undefined, o: 8 })]) {
    const { errors } = await ask(server.url, query, { id, from: { cursor } })
    expect(errors?.[0]?.extensions.code).toBe('INVALID_CURSOR')
  }
  for (const [cursor, text] of [
    [cursorOf({ o: 8 }), 'run\n'],
    [cursorOf({ m: undefined, o: 0 }), 'another run\n'],
  ])
    expect((await data(server.url, query, { id, from: { cursor } }))['job'].logs.text).toBe(text)
})
