import { expect, it } from 'vitest'
import { cancelJob } from '../../../src/domain/control/cancel.ts'
import { ask, data, type Json, type Stream, streamSocket, streamSse } from '../../support/client.ts'
import { openTestServer } from '../../support/server.ts'

const server = await openTestServer()

const streams = Object.entries({ socket: streamSocket, sse: streamSse })
/** Reads the next message that is not a heartbeat. Heartbeats arrive if the machine is busy. */
async function next(stream: Stream): Promise<Json> {
  for (;;) {
    const message: Json = Object.values((await stream.next()).value?.data ?? {})[0]
    if (message?.__typename !== 'StreamHeartbeat') return message
  }
}
const cancelled = new Set<string>()
async function submitAndCancel(): Promise<string> {
  const jobId = await server.submit()
  await cancelJob(server.domain, server.admin, { jobId })
  cancelled.add(jobId)
  return jobId
}
/**
 * The feed may notice later that events have changed, and reset open streams again. Such a reset stands for all events
 * before it, so another job follows it.
 */
async function nextTransitions(stream: Stream): Promise<Json> {
  for (;;) {
    const message = await next(stream)
    if (message.__typename !== 'StreamReset') return message
    await submitAndCancel()
  }
}

it.each(streams)(
  'jobUpdates over %s sends a reset for a cursor from before the restore of a backup',
  async (_name, open) => {
    const query = `subscription ($after: Cursor) { jobUpdates(after: $after) {
    __typename ... on JobTransitions { job { id } transitions { to } cursor } ... on StreamReset { resetReason jobIds cursor } } }`
    const stream = open(server.url, query, { after: (await data(server.url, '{ jobs { asOf } }'))['jobs'].asOf })
    await submitAndCancel()
    let last = await nextTransitions(stream)
    while (last.transitions.at(-1).to !== 'CANCELLED') last = await nextTransitions(stream)
    await stream.return?.()
    // Events after the restore have later times.
    await server.domain.db.sql.query("UPDATE event SET at = at + interval '1 hour' WHERE job_id = $1", [last.job.id])
    const back = open(server.url, query, { after: last.cursor })
    const reset = await next(back)
    expect(reset).toMatchObject({ __typename: 'StreamReset', resetReason: 'RETENTION', jobIds: [] })
    const after = open(server.url, query, { after: reset.cursor })
    await submitAndCancel()
    for (const each of [back, after]) expect(cancelled).toContain((await nextTransitions(each)).job.id)
    await Promise.all([back.return?.(), after.return?.()])
  },
)

const jobStatus = `subscription ($jobId: ID!, $after: Cursor) { jobStatus(jobId: $jobId, after: $after) {
  __typename ... on JobTransitions { transitions { seq } cursor } ... on StreamReset { resetReason jobIds cursor } } }`
const pages = `query ($id: ID!, $after: Cursor, $before: Cursor) { job(id: $id) { eventCursor
  events(after: $after, before: $before) { edges { cursor node { seq } } pageInfo { startCursor endCursor } } } }`

/** A job with two events, and the cursors of the job, the page and its rows. */
async function readCancelled() {
  const jobId = await submitAndCancel()
  const { job } = await data(server.url, pages, { id: jobId })
  return { jobId, job }
}

/** Simulates the restore of a backup, after which events have later times. */
const restored = (jobId: string) =>
  server.domain.db.sql.query("UPDATE event SET at = at + interval '1 hour' WHERE job_id = $1", [jobId])

it.each(streams)('jobStatus over %s sends a reset for a cursor from before a restore', async (_, open) => {
  const { jobId, job } = await readCancelled()
  const first = await next(open(server.url, jobStatus, { jobId }))
  expect(first).toEqual({ __typename: 'JobTransitions', transitions: [{ seq: 2 }], cursor: job.eventCursor })
  await restored(jobId)
  const back = open(server.url, jobStatus, { jobId, after: first.cursor })
  expect(await next(back)).toMatchObject({ __typename: 'StreamReset', resetReason: 'RETENTION', jobIds: [] })
  expect(await nextTransitions(back)).toMatchObject({ transitions: [{ seq: 2 }] })
  const older = open(server.url, jobStatus, { jobId, after: unmarked(first.cursor) })
  expect(await nextTransitions(older)).toMatchObject({ __typename: 'JobTransitions', transitions: [] })
})

it('Job.events has the cursors of jobStatus, and refuses one from before the restore of a backup', async () => {
  const { jobId, job } = await readCancelled()
  const { edges, pageInfo } = job.events
  expect(pageInfo).toEqual({ startCursor: edges[0].cursor, endCursor: job.eventCursor })
  const seqs = async (place: object) =>
    (await data(server.url, pages, { id: jobId, ...place }))['job'].events.edges.map(({ node }: Json) => node.seq)
  expect(await seqs({ after: edges[0].cursor })).toEqual([2])
  expect(await seqs({ before: job.eventCursor })).toEqual([1])
  await restored(jobId)
  const refused = { errors: [{ extensions: { code: 'INVALID_CURSOR' } }] }
  for (const place of [{ after: edges[0].cursor }, { before: job.eventCursor }])
    expect(await ask(server.url, pages, { id: jobId, ...place })).toMatchObject(refused)
  // A cursor without a mark is accepted unless the job has fewer events.
  expect(await seqs({ after: unmarked(edges[0].cursor) })).toEqual([2])
  await server.domain.db.sql.query('UPDATE job SET version = 1 WHERE id = $1', [jobId])
  expect(await ask(server.url, pages, { id: jobId, after: unmarked(job.eventCursor) })).toMatchObject(refused)
})

function unmarked(cursor: string): string {
  const { m: _, ...content } = JSON.parse(Buffer.from(cursor, 'base64url').toString())
  return Buffer.from(JSON.stringify(content)).toString('base64url')
}

it('a list accepts a cursor if the filter is equal in another notation, and refuses it if a time differs', async () => {
  await server.submit()
  const day = (n: number) => `2020-01-0${n}T00:00:00Z`
  const query =
    'query ($filter: JobFilter, $c: Cursor) { jobs(first: 1, filter: $filter, after: $c) { edges { cursor } } }'
  const { jobs } = await data(server.url, query, { filter: { createdAfter: day(1), queues: ['default'] } })
  const after = async (filter: object) => (await ask(server.url, query, { filter, c: jobs.edges[0].cursor })).errors
  expect(await after({ queues: ['default'], name: null, createdAfter: day(1) })).toBeUndefined()
  expect(await after({ createdAfter: day(2), queues: ['default'] })).toMatchObject([
    { extensions: { code: 'INVALID_CURSOR' } },
  ])
})
