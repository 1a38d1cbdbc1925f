import { type Connection, openConnection } from '../src/client/connection/connection.ts'
import { CancelJobDocument, JobStatusDocument, SubmitJobDocument } from '../src/client/generated/graphql.ts'
import { printLatencies } from './harness.ts'
import { withServer } from './server.ts'

/**
 * Submit → RUNNING of a real process on an idle server, one job at a time: as a client sees it (request sent → event
 * received), and as the database dates it (created → started). Goal: p50 ≤ 15 ms, p99 ≤ 60 ms.
 */
const warmUps = 20
const jobs = 300

await withServer(async (url) => {
  const connection = openConnection({ url })
  // A long-running job keeps the socket open, so that the time to open connections is not measured.
  const anchorId = await submit(connection, ['/bin/sleep', '3600'])
  const anchor = connection.subscribe(JobStatusDocument, { jobId: anchorId })
  await anchor.next()
  const seen: number[] = []
  const stored: number[] = []
  for (let i = 0; i < warmUps + jobs; i++) {
    const took = await measure(connection)
    if (i < warmUps) continue
    seen.push(took.seenMs)
    stored.push(took.storedMs)
  }
  await connection.request(CancelJobDocument, { input: { jobId: anchorId } })
  for await (const { jobStatus } of anchor) if (jobStatus.__typename === 'JobTransitions' && jobStatus.isFinal) break
  await connection.close()
  printLatencies('submit → RUNNING of /bin/true, idle server', { 'client sees it': seen, 'database dates it': stored })
})

async function submit(connection: Connection, command: string[]): Promise<string> {
  const { submitJob } = await connection.request(SubmitJobDocument, { input: { spec: { command } } })
  if (submitJob.__typename !== 'SubmitJobSuccess') throw new Error(JSON.stringify(submitJob))
  return submitJob.job.id
}

async function measure(connection: Connection): Promise<{ seenMs: number; storedMs: number }> {
  const sent = performance.now()
  const jobId = await submit(connection, ['/bin/true'])
  let seenMs = Number.NaN
  let storedMs = Number.NaN
  for await (const { jobStatus } of connection.subscribe(JobStatusDocument, { jobId })) {
    if (jobStatus.__typename !== 'JobTransitions' || jobStatus.job.startedAt === null) continue
    if (Number.isNaN(seenMs)) seenMs = performance.now() - sent
    storedMs = Date.parse(jobStatus.job.startedAt) - Date.parse(jobStatus.job.createdAt)
  }
  return { seenMs, storedMs }
}
