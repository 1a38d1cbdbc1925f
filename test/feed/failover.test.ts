import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { createViewer, type Viewer } from '../../src/domain/access.ts'
import { type Topic, topics } from '../../src/domain/domain.ts'
import { sequenceOnce } from '../../src/domain/jobs/sequence.ts'
import { createFeed, type Feed } from '../../src/feed/feed.ts'
import type { JobUpdatesMessage } from '../../src/feed/job-updates.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createLog } from '../../src/platform/log.ts'
import type { Sql } from '../../src/platform/tx.ts'
import { Wakeups } from '../../src/platform/wakeup.ts'
import { machineTime } from '../support/clock.ts'
import { openDatabase } from '../support/database.ts'
import { addEvent, addJob, addUser } from '../support/factories.ts'

/** The database continues from an earlier moment, like a standby that lacks transactions of the primary. */
let wakeups: Wakeups<Topic>
let feed: Feed
let ada: Viewer
const log = createLog('error')

const database = await openDatabase()
beforeAll(async () => {
  const id = await addUser(database.db.sql, 'ada')
  ada = createViewer({ id, name: 'ada', level: 'RESEARCHER', allow: [], deny: [] })
})
beforeEach(() => {
  wakeups = new Wakeups({ address: null, topics, clock: systemClock, log })
  feed = createFeed({ db: database.db, wakeups, clock: systemClock, time: machineTime, log })
})
afterEach(async () => {
  expect(feed.openReaders()).toBe(0)
  await wakeups.stop()
})

const sequence = async () => {
  while ((await sequenceOnce({ db: database.db, wakeups })).found > 0);
}

async function queuedJob(sql: Sql = database.db.sql) {
  const { jobId } = await addJob(sql, ada.userId, { state: 'QUEUED' })
  await addEvent(sql, jobId, { type: 'CREATED', to: 'QUEUED' })
  return jobId
}

const change = (jobId: string, sql: Sql = database.db.sql) => addEvent(sql, jobId, { type: 'PRIORITY_CHANGED' })

/**
 * Loses each event after `position`, and each job that began there. The database commits `then` before a reader reads:
 * its events get the same positions.
 */
async function failOver(position: number, then: (sql: Sql) => Promise<unknown> = async () => undefined) {
  const client = await database.db.pool.connect()
  const query = async (text: string, values: unknown[] = []) => (await client.query(text, values)).rows
  try {
    await query('BEGIN')
    await query('LOCK TABLE feed_head IN ACCESS EXCLUSIVE MODE')
    await query('SET LOCAL session_replication_role = replica')
    const begun = `(SELECT job_id FROM event WHERE seq = 1 AND position > ${position})`
    await query(`DELETE FROM run WHERE job_id IN ${begun}`)
    await query(`DELETE FROM job WHERE id IN ${begun}`)
    await query(`DELETE FROM event WHERE position > ${position}`)
    await query('UPDATE job SET version = (SELECT max(seq) FROM event WHERE job_id = job.id)')
    await query('SET LOCAL session_replication_role = origin')
    await then({ query } as Sql)
    await query(`UPDATE event SET position = ${position} + n.number FROM (
      SELECT job_id, seq, row_number() OVER (ORDER BY at, job_id, seq) AS number FROM event WHERE position IS NULL
    ) n WHERE event.job_id = n.job_id AND event.seq = n.seq`)
    await query('UPDATE feed_head SET position = coalesce((SELECT max(position) FROM event), 0)')
    await query('COMMIT')
  } finally {
    client.release()
  }
}

async function failOverAndWake(position: number, then?: (sql: Sql) => Promise<unknown>) {
  await failOver(position, then)
  wakeups.poke('feed')
}

type Updates = AsyncGenerator<JobUpdatesMessage, void, void>

const next = async <T>(stream: AsyncGenerator<T, void, void>): Promise<T> => {
  const { value } = await stream.next()
  if (!value) throw new Error('The stream has ended')
  return value
}
/** Returns job and seq of the next events. */
async function nextEvents(stream: Updates): Promise<string[]> {
  const message = await next(stream)
  if (message.kind !== 'transitions') throw new Error(`A ${message.kind}`)
  expect(message.job.version).toBe((await versionOf(message.jobId)) ?? null)
  return message.events.map(({ jobId, seq }) => `${jobId} ${seq}`)
}
const versionOf = async (jobId: string) =>
  (await database.db.sql.query<{ version: number }>('SELECT version FROM job WHERE id = $1', [jobId]))[0]?.version

/** Opens a stream that has received two changes of a job and another job, which the database then loses. */
async function streamOfLost() {
  const jobId = await queuedJob()
  await sequence()
  const { position } = await feed.head()
  const stream = feed.jobUpdates({ viewer: ada, after: position })
  const first = next(stream)
  await change(jobId)
  await sequence()
  await first
  const lostId = await queuedJob()
  await sequence()
  await next(stream)
  return { jobId, lostId, position, stream }
}

const pastHead = async (jobId: string, sql: Sql) => {
  for (let more = 0; more < 5; more++) await change(jobId, sql)
}

test.each([
  ['before the database reuses the lost positions', undefined],
  ['after the database has reused the lost positions', pastHead],
])('jobUpdates restarts with a reset after a failover, %s', async (_when, then) => {
  const { jobId, lostId, position, stream } = await streamOfLost()
  await failOverAndWake(position, (sql) => then?.(jobId, sql) ?? Promise.resolve())
  const { position: head, mark } = await feed.head()
  const place = { cursor: head, mark }
  expect(await next(stream)).toEqual({ kind: 'reset', reason: 'RETENTION', jobIds: [], ...place })
  const seq = await change(jobId)
  await sequence()
  expect(await nextEvents(stream)).toEqual([`${jobId} ${seq}`])

  // Opens a stream at the position of a list that was read afterwards.
  const later = feed.jobUpdates({ viewer: ada, after: head, mark })
  expect(await nextEvents(later)).toEqual([`${jobId} ${seq}`])
  await expect(feed.jobStatus({ viewer: ada, jobId: lostId })).rejects.toThrow(lostId)
  await Promise.all([stream.return(), later.return()])
})

test('jobStatus restarts with a reset after a failover, or ends if its job is lost', async () => {
  const jobId = await queuedJob()
  await sequence()
  const { position } = await feed.head()
  const stream = await feed.jobStatus({ viewer: ada, jobId })
  await next(stream)
  for (const seq of [2, 3]) {
    await change(jobId)
    await sequence()
    expect(await next(stream)).toMatchObject({ events: [{ seq }], job: { version: seq } })
  }
  const lostId = await queuedJob()
  await sequence()
  const lost = await feed.jobStatus({ viewer: ada, jobId: lostId })
  await next(lost)
  await failOverAndWake(position)
  expect(await next(stream)).toMatchObject({ kind: 'reset', reason: 'RETENTION', cursor: 0 })
  expect(await next(stream)).toMatchObject({ events: [{ seq: 1 }], job: { version: 1 } })
  expect(await next(lost)).toMatchObject({ kind: 'reset', reason: 'DELETED', jobIds: [lostId] })
  expect((await lost.next()).done).toBe(true)
  await change(jobId)
  await sequence()
  expect(await next(stream)).toMatchObject({ events: [{ seq: 2 }], job: { version: 2 } })
  await stream.return()
})

test('jobStatus that is opened after a failover shows the state that the database has', async () => {
  const { jobId, position, stream } = await streamOfLost()
  await stream.return()
  await failOverAndWake(position)
  const status = await feed.jobStatus({ viewer: ada, jobId })
  expect(await next(status)).toMatchObject({ events: [{ seq: 1 }], job: { version: 1 } })
  await status.return()
})

test('jobUpdates that is opened before the server notices a failover shows no lost event', async () => {
  // The ring does not read the database again before the stream begins.
  const { sql } = database.db
  const query: Sql['query'] = async (text, values, name) => {
    if (name === 'feed_page') await systemClock.sleep(100)
    return sql.query(text, values, name)
  }
  const db = Object.create(database.db, { sql: { value: { ...sql, query } } }) as typeof database.db
  feed = createFeed({ db, wakeups, clock: systemClock, time: machineTime, log })
  const { jobId, position, stream } = await streamOfLost()
  await failOver(position)
  const later = feed.jobUpdates({ viewer: ada })
  expect(await next(later)).toMatchObject({ kind: 'reset', reason: 'RETENTION', cursor: position })
  const seq = await change(jobId)
  await sequence()
  expect(await nextEvents(later)).toEqual([`${jobId} ${seq}`])
  await Promise.all([stream.return(), later.return()])
})

test('jobStatus that is opened before the server notices a failover shows no lost event', async () => {
  const { jobId, position, stream } = await streamOfLost()
  const status = await feed.jobStatus({ viewer: ada, jobId })
  await next(status)
  await change(jobId)
  await sequence()
  await next(status)
  await failOver(position)
  const later = await feed.jobStatus({ viewer: ada, jobId })
  const first = await next(later)
  // The ring reads once a second, so the server may have noticed the failover just now.
  const shown = first.kind === 'reset' ? await next(later) : first
  expect(shown).toMatchObject({ events: [{ seq: 1 }], job: { version: 1 } })
  await Promise.all([stream.return(), status.return(), later.return()])
})

test('events deleted by retention or with their job do not count as lost', async () => {
  const jobId = await queuedJob()
  const goneId = await queuedJob()
  await sequence()
  const stream = feed.jobUpdates({ viewer: ada })
  const first = next(stream)
  await change(jobId)
  await sequence()
  await first
  await change(goneId)
  await sequence()
  await next(stream)
  await database.db.sql.query('DELETE FROM job WHERE id = $1', [goneId])
  await sequence()
  expect(await next(stream)).toMatchObject({ kind: 'reset', reason: 'DELETED', jobIds: [goneId] })
  await database.db.sql.query('DELETE FROM deleted_job')
  await database.db.sql.query('DELETE FROM event')
  const nextId = await queuedJob()
  await sequence()
  expect(await nextEvents(stream)).toEqual([`${nextId} 1`])
  await stream.return()
})
