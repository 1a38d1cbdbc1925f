import { afterAll, expect, test } from 'vitest'
import { createViewer } from '../../src/domain/access.ts'
import { topics } from '../../src/domain/domain.ts'
import { sequenceOnce } from '../../src/domain/jobs/sequence.ts'
import { createFeed } from '../../src/feed/feed.ts'
import type { JobUpdatesMessage } from '../../src/feed/job-updates.ts'
import type { Transitions } from '../../src/feed/message.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createLog } from '../../src/platform/log.ts'
import { Wakeups } from '../../src/platform/wakeup.ts'
import { machineTime } from '../support/clock.ts'
import { openDatabase } from '../support/database.ts'
import { addEvent, addJob, addUser, finishJob } from '../support/factories.ts'
import { until } from '../support/until.ts'

const { db } = await openDatabase()
const { sql } = db
const userId = await addUser(sql, 'ada')
const log = createLog('error')
const wakeups = new Wakeups({ address: null, topics, clock: systemClock, log })
const feed = createFeed({ db, wakeups, clock: systemClock, time: machineTime, log })
const ada = createViewer({ id: userId, name: 'ada', level: 'RESEARCHER', allow: [], deny: [] })
afterAll(() => wakeups.stop())

const sequence = async () => {
  while ((await sequenceOnce({ db, wakeups })).found > 0);
}

/** Creates a RUNNING job with its three events. */
async function addRunningJob(owner = userId, fields: { name?: string } = {}): Promise<string> {
  const { jobId } = await addJob(sql, owner, fields)
  await addEvent(sql, jobId, { type: 'CREATED', to: 'QUEUED' })
  await addEvent(sql, jobId, { from: 'QUEUED', to: 'STARTING' })
  await addEvent(sql, jobId, { from: 'STARTING', to: 'RUNNING' })
  await sequence()
  return jobId
}

const transitions = async (stream: AsyncGenerator<JobUpdatesMessage, void, void>): Promise<Transitions> => {
  const { value } = await stream.next()
  expect(value).toMatchObject({ kind: 'transitions' })
  return value as Transitions
}

test('a filter by reason, node or start time matches before and after an event, and for a deletion', async () => {
  const { position: after } = await feed.head()
  const mine = await addRunningJob()
  await addRunningJob()
  await addEvent(sql, mine, { type: 'PREEMPT_REQUESTED' })
  await addEvent(sql, mine, { type: 'PRIORITY_CHANGED' })
  await addEvent(sql, mine, { type: 'PREEMPT_WITHDRAWN' })
  await finishJob(sql, mine)
  await addEvent(sql, mine, { from: 'RUNNING', to: 'SUCCEEDED' })
  await sql.query("UPDATE event SET reason = 'PREEMPTING' WHERE job_id = $1 AND type = 'PREEMPT_REQUESTED'", [mine])
  await sql.query('UPDATE job SET started_at = created_at WHERE id = $1', [mine])
  await sql.query("UPDATE run SET nodes = '{gpu1}' WHERE job_id = $1", [mine])
  await sequence()
  const filters = {
    reason: { stateReasons: ['PREEMPTING'] },
    node: { node: 'gpu1' },
    start: { startedAfter: new Date(0) },
  } as const
  const streams = Object.entries(filters).map(
    ([name, filter]) => [name, feed.jobUpdates({ viewer: ada, filter, after })] as const,
  )
  for (const [name, stream] of streams) {
    const seen: number[] = []
    const wanted = { reason: [4, 5, 6], node: [2, 3, 4, 5, 6, 7], start: [1, 2, 3, 4, 5, 6, 7] }[name]
    while (seen.length < (wanted?.length ?? 0)) {
      const { events, matches } = await transitions(stream)
      seen.push(...events.map(({ seq }) => seq))
      expect([name, matches]).toEqual([name, name === 'start'])
    }
    expect([name, seen]).toEqual([name, wanted])
    await stream.return()
  }
  const { position: last } = await feed.head()
  const gone = feed.jobUpdates({ viewer: ada, filter: filters.start, after: last })
  await sql.query('DELETE FROM job WHERE id = $1', [mine])
  await sequence()
  expect((await gone.next()).value).toMatchObject({ kind: 'reset', jobIds: [mine] })
  await gone.return()
})

test('jobUpdates sends progress to readers that request it, even progress that they missed in an interruption', async () => {
  const bobId = await addUser(sql, 'bob')
  const report = (jobId: string, fraction: number) =>
    sql.query('UPDATE job SET progress_fraction = $2, told_at = berth_now() WHERE id = $1', [jobId, fraction])
  const [mine, other, hers] = [
    await addRunningJob(ada.userId, { name: 'told-1' }),
    await addRunningJob(ada.userId, { name: 'other' }),
    await addRunningJob(bobId, { name: 'told-2' }),
  ]
  await report(mine, 0.25)
  const asked = { viewer: ada, filter: { name: 'told-*', states: ['RUNNING'] }, progress: true } as const
  const { position: after } = await feed.head()
  const first = feed.jobUpdates({ ...asked, after })
  expect(await transitions(first)).toMatchObject({ job: { progressFraction: 0.25 } })
  for (const jobId of [hers, other, mine]) await report(jobId, 0.5)
  const { toldMs, ...told } = await transitions(first)
  expect(told).toMatchObject({ jobId: mine, events: [], cursor: after, matches: true, job: { progressFraction: 0.5 } })
  await first.return()

  await report(mine, 0.75)
  const second = feed.jobUpdates({ ...asked, after, toldMs })
  await until(async () => (await transitions(second)).job.progressFraction === 0.75, { what: 'the newest progress' })
  await finishJob(sql, mine)
  await addEvent(sql, mine, { from: 'RUNNING', to: 'SUCCEEDED' })
  await sequence()
  await report(mine, 1)
  expect(await transitions(second)).toMatchObject({ jobId: mine, events: [{ to: 'SUCCEEDED' }], matches: false })
  await second.return()
  const without = feed.jobUpdates({ viewer: ada, after })
  expect((await transitions(without)).events).toHaveLength(1)
  await without.return()
})
