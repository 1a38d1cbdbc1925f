import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { TypedDocument } from '../../../src/client/connection/connection.ts'
import type { Transport } from '../../../src/client/connection/streams.ts'
import { type Client, createClient } from '../../../src/client/jobs/client.ts'
import type { JobUpdate } from '../../../src/client/jobs/events.ts'
import { cancelJob } from '../../../src/domain/control/cancel.ts'
import { setJobPriority } from '../../../src/domain/control/priority.ts'
import { openLog, sealLog } from '../../../src/logs/append.ts'
import { data } from '../../support/client.ts'
import { append } from '../../support/log.ts'
import { type CuttingProxy, startProxy } from '../../support/proxy.ts'
import { openTestServer } from '../../support/server.ts'
import { until } from '../../support/until.ts'

/** The client, over a real server, misses and repeats no message, whichever connection breaks. */

let proxy: CuttingProxy
let client: Client
const server = await openTestServer()
beforeEach(async () => {
  proxy = await startProxy(server.url)
  client = open()
})
afterEach(async () => {
  await client.close()
  await proxy.close()
})

/** Waits between attempts take only a turn of the event loop. */
const sleep = () => new Promise<void>((resolve) => setImmediate(resolve))
const open = (transports?: Transport[]) => createClient({ url: proxy.url, sleep, ...(transports && { transports }) })

const cancel = (jobId: string) => cancelJob(server.domain, server.admin, { jobId })
const prioritise = (jobId: string, priority: number) => setJobPriority(server.domain, server.admin, { jobId, priority })

async function seqsOf(updates: AsyncIterable<JobUpdate>, onEvent: (seq: number) => unknown = () => undefined) {
  const seqs: number[] = []
  for await (const update of updates)
    if (update.__typename === 'JobTransitions')
      for (const { seq } of update.transitions) {
        seqs.push(seq)
        await onEvent(seq)
      }
  return seqs
}

const numbersTo = (last: number) => Array.from({ length: last }, (_, i) => i + 1)

describe.each<Transport>(['websocket', 'sse', 'polling'])('the client over %s', (transport) => {
  beforeEach(async () => {
    await client.close()
    client = open([transport])
  })

  it('follows a job with every event from the first to the last', async () => {
    const jobId = await server.submit()
    await prioritise(jobId, 30)
    const seqs = await seqsOf(client.follow(jobId), (seq) => seq === 2 && cancel(jobId))
    expect(seqs).toEqual([1, 2, 3])
    expect(await client.wait(jobId)).toMatchObject({ id: jobId, state: 'CANCELLED', version: 3 })
  })

  it('follows a job from a cursor, beginning with the next event', async () => {
    const jobId = await server.submit()
    await prioritise(jobId, 30)
    await prioritise(jobId, 20)
    const updates = client.follow(jobId, { from: 'CURRENT' })
    const { value: first } = await updates.next()
    await updates.return()
    const { job } = (await data(server.url, 'query ($id: ID!) { job(id: $id) { eventCursor } }', { id: jobId })) as {
      job: { eventCursor: string }
    }
    await cancel(jobId)
    expect(await seqsOf(client.follow(jobId, { after: job.eventCursor }))).toEqual([4])
    expect(await seqsOf(client.follow(jobId, { after: first?.cursor ?? '' }))).toEqual(
      transport === 'polling' ? [4] : [2, 3, 4],
    )
  })

  it('follows a job from its current state, beginning with the event that led to it', async () => {
    const jobId = await server.submit()
    await prioritise(jobId, 30)
    await cancel(jobId)
    expect(await seqsOf(client.follow(jobId, { from: 'CURRENT' }))).toEqual([3])
  })

  it('tails the output of a job until the job ends', async () => {
    const { jobId, close } = await logged('first 🚢\n')
    let text = ''
    for await (const part of client.tail(jobId)) {
      if (part.__typename !== 'LogBatch') continue
      if (text === '') await close('second')
      text += part.text
    }
    expect(text).toBe('first 🚢\nsecond')
  })

  it('fails for a job that does not exist', async () => {
    await expect(client.follow('job_none').next()).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(client.tail('job_none').next()).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('reports an outage of its connection, and the end of the outage before the next message', async () => {
    const jobId = await server.submit()
    const outages: (string | undefined)[] = []
    const forget = client.onOutage(() => outages.push(client.outage()?.code))
    const updates = client.follow(jobId, { from: 'CURRENT' })
    await updates.next()
    const next = updates.next()
    proxy.blocked.add('websocket').add('sse')
    proxy.cut()
    if (transport !== 'polling') await until(() => client.outage() !== null, { what: 'the stream is away' })
    proxy.blocked.clear()
    await until(() => client.outage() === null, { what: 'the stream is back' })
    await cancel(jobId)
    await next
    await updates.return()
    forget()
    expect(new Set(outages)).toEqual(new Set(transport === 'polling' ? [] : ['UNREACHABLE', undefined]))
    expect(client.outage()).toBeNull()
  })

  it.each(['follow', 'tail'] as const)('ends %s at once on return, even without messages', async (name) => {
    const messages = client[name](await server.submit())
    if (name === 'follow') await messages.next()
    const next = messages.next()
    await messages.return()
    expect(await next).toEqual({ done: true, value: undefined })
  })

  it('ends a stream with the reason of the abort signal', async () => {
    const jobId = await server.submit()
    const leave = new AbortController()
    const updates = client.follow(jobId, { signal: leave.signal })
    await updates.next()
    const next = updates.next()
    leave.abort(new Error('enough'))
    await expect(next).rejects.toThrow('enough')
  })
})

it('each event arrives once although connections are lost and transports change', async () => {
  const jobId = await server.submit()
  const last = 120
  const rest = async () => {
    for (let seq = 31; seq < last; seq++) await prioritise(jobId, seq % 50)
    await cancel(jobId)
  }
  const seqs = await seqsOf(client.follow(jobId), async (seq) => {
    if (seq === 30) proxy.blocked.add('websocket')
    if (seq === 60) proxy.blocked.add('sse')
    if (seq === 90) proxy.blocked.clear()
    if (seq % 7 === 0) proxy.cut()
    // The first events come one by one, so that each cut of the WebSocket also hits a slow reader.
    if (seq < 30) await prioritise(jobId, seq + 1)
    if (seq === 30) await rest()
  })
  expect(seqs).toEqual(numbersTo(last))
  expect(proxy.passed.websocket).toBeGreaterThan(3)
})

it('the client falls back to polling, and each byte of the log arrives once', async () => {
  proxy.blocked.add('websocket').add('sse')
  const { jobId, add, close } = await logged('0\n')
  let text = ''
  for await (const part of client.tail(jobId)) {
    if (part.__typename !== 'LogBatch') continue
    const number = Number(part.text.trim().split('\n').at(-1))
    text += part.text
    if (number < 4) await add(`${number + 1}\n`)
    else if (!part.isFinal) await close('end')
    proxy.cut()
  }
  expect(text).toBe('0\n1\n2\n3\n4\nend')
  expect(proxy.passed).toEqual({ websocket: 0, sse: 0 })
})

/** A frontend that shows lines selects these fields. */
const lineDocuments = {
  tail: `subscription ($jobId: ID!, $after: Cursor) {
    tail(jobId: $jobId, after: $after) {
      __typename ... on LogBatch { lines { number text } cursor isFinal } ... on LogGap { startOffset cursor }
      ... on RunChanged { cursor } ... on StreamReset { resetReason cursor } ... on StreamHeartbeat { cursor }
    }
  }` as TypedDocument<{ tail: LinesMessage }, { jobId: string }>,
  page: `query ($id: ID!, $from: LogStart, $first: Int) {
    job(id: $id) { id logs(from: $from, first: $first) { lines { number text } gaps { startOffset } cursor isFinal } }
  }`,
  first: 100,
}

interface LinesMessage {
  __typename: 'LogBatch'
  lines: { number: number; text: string }[]
  cursor: string
  isFinal: boolean
}

it.each<Transport>(['websocket', 'polling'])('documents of the caller can tail lines over %s', async (transport) => {
  const { jobId, close } = await logged('first\n')
  const lines: object[] = []
  const reader = open([transport])
  for await (const part of reader.tail(jobId, { documents: lineDocuments })) {
    if (part.__typename !== 'LogBatch') continue
    if (lines.length === 0) await close('second')
    lines.push(...part.lines)
  }
  expect(lines).toEqual([
    { number: 1, text: 'first' },
    { number: 2, text: 'second' },
  ])
  await reader.close()
})

it.each([
  ['progress', 'progress_fraction = 0.5, progress_at = berth_now()', { progress: { fraction: 0.5 } }],
  ['stateInfo', `state_info = 'pulling the image'`, { stateInfo: 'pulling the image' }],
])('polling reports a change of %s, which has no event', async (_, change, job) => {
  const polling = open(['polling'])
  const jobId = await server.submit()
  const updates = polling.follow(jobId)
  await updates.next()
  const next = updates.next()
  await server.domain.db.sql.query(`UPDATE job SET ${change} WHERE id = $1`, [jobId])
  expect((await next).value).toMatchObject({ transitions: [], job })
  await updates.return()
  await polling.close()
})

it('a stream continues at another server of the same database', async () => {
  const jobId = await server.submit()
  const dead = 'http://127.0.0.1:9'
  const two = createClient({ url: [dead, proxy.url], sleep })
  const seqs = await seqsOf(two.follow(jobId), () => cancel(jobId))
  expect(seqs).toEqual([1, 2])
  await two.close()
})

it('each call of submit creates a new job, with its own idempotency key', async () => {
  const answer = await client.submit({ spec: { command: ['true'] } })
  const again = await client.submit({ spec: { command: ['true'] } })
  if (answer.__typename !== 'SubmitJobSuccess' || again.__typename !== 'SubmitJobSuccess') throw new Error('refused')
  expect(answer.job.id).not.toBe(again.job.id)
  expect(await client.submit({ spec: { command: [] } })).toMatchObject({ __typename: 'InvalidInputProblem' })
})

/** Creates a job with output, and functions that add output and end it. */
async function logged(begin: string) {
  const { sql } = server.domain.db
  const jobId = await server.submit()
  const [run] = await sql.query<{ id: string }>('SELECT id FROM run WHERE job_id = $1', [jobId])
  const runId = run?.id ?? ''
  let head = await openLog(sql, runId)
  const add = async (text: string) => {
    const pieces = [{ stream: 'STDOUT' as const, bytes: Buffer.from(text) }]
    head = await append(sql, head, { position: null, bytesMax: 1_000, pieces })
    server.domain.wakeups.poke('log')
  }
  const close = async (text: string) => {
    await add(text)
    await sealLog(sql, [runId])
    await cancel(jobId)
    server.domain.wakeups.poke('log')
  }
  await add(begin)
  return { jobId, add, close }
}
