import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { createViewer, type Viewer } from '../../src/domain/access.ts'
import { type Topic, topics } from '../../src/domain/domain.ts'
import { NotFound } from '../../src/domain/errors.ts'
import { storeRunFacts } from '../../src/domain/jobs/run-facts.ts'
import { sequenceOnce } from '../../src/domain/jobs/sequence.ts'
import { createFeed, type Feed } from '../../src/feed/feed.ts'
import type { JobStatusMessage } from '../../src/feed/job-status.ts'
import type { Transitions } from '../../src/feed/message.ts'
import { type Clock, systemClock, type Time } from '../../src/platform/clock.ts'
import { createLog } from '../../src/platform/log.ts'
import { Wakeups } from '../../src/platform/wakeup.ts'
import { createFakeClock, machineTime, measureHeartbeat } from '../support/clock.ts'
import { openDatabase } from '../support/database.ts'
import { addEvent, addJob, addUser, finishJob } from '../support/factories.ts'
import { runDuringOutage } from '../support/outage.ts'
import { until } from '../support/until.ts'

let wakeups: Wakeups<Topic>
let feed: Feed
let ada: Viewer
let bob: Viewer
const log = createLog('error')

const database = await openDatabase()
beforeAll(async () => {
  ada = await researcher('ada')
  bob = await researcher('bob')
})
beforeEach(() => {
  wakeups = new Wakeups({ address: null, topics, clock: systemClock, log })
  feed = createFeed({ db: database.db, wakeups, clock: systemClock, time: machineTime, log })
})
afterEach(async () => {
  expect(feed.openReaders()).toBe(0)
  await wakeups.stop()
})

async function researcher(name: string): Promise<Viewer> {
  const userId = await addUser(database.db.sql, name)
  return createViewer({ id: userId, name, level: 'RESEARCHER', allow: [], deny: [] })
}

/** Creates a RUNNING job with its three events. */
async function runningJob(viewer = ada, fields: { name?: string } = {}) {
  const { sql } = database.db
  const { jobId } = await addJob(sql, viewer.userId, fields)
  await addEvent(sql, jobId, { type: 'CREATED', to: 'QUEUED' })
  await addEvent(sql, jobId, { from: 'QUEUED', to: 'STARTING' })
  await addEvent(sql, jobId, { from: 'STARTING', to: 'RUNNING' })
  await sequence()
  return jobId
}

const sequence = async () => {
  while ((await sequenceOnce({ db: database.db, wakeups })).found > 0);
}

async function end(jobId: string) {
  await finishJob(database.db.sql, jobId)
  await addEvent(database.db.sql, jobId, { from: 'RUNNING', to: 'SUCCEEDED' })
  await sequence()
}

async function remove(...jobIds: string[]) {
  await database.db.sql.query('DELETE FROM job WHERE id = ANY($1)', [jobIds])
  await sequence()
}

const seqs = (messages: readonly JobStatusMessage[]) =>
  messages.flatMap((message) => (message.kind === 'transitions' ? message.events.map(({ seq }) => seq) : []))

const transitions = async (stream: AsyncGenerator<{ kind: string }, void, void>): Promise<Transitions> => {
  const { value } = await stream.next()
  expect(value).toMatchObject({ kind: 'transitions' })
  return value as Transitions
}

test('jobStatus begins with the event of the current state, and ends with the final event', async () => {
  const jobId = await runningJob()
  const stream = await feed.jobStatus({ viewer: ada, jobId })
  const first = await transitions(stream)
  expect(first).toMatchObject({ phase: 'REPLAY', cursor: 3, isFinal: false })
  expect(first.events).toMatchObject([{ seq: 3, to: 'RUNNING' }])
  const rest = Array.fromAsync(stream)
  await addEvent(database.db.sql, jobId, { type: 'PRIORITY_CHANGED' })
  await end(jobId)
  await addEvent(database.db.sql, jobId, { type: 'LATE_REPORT', from: 'SUCCEEDED' })
  await sequence()
  const messages = await rest
  expect(seqs(messages)).toEqual([4, 5])
  expect(messages.at(-1)).toMatchObject({ kind: 'transitions', phase: 'LIVE', isFinal: true, cursor: 5 })
})

test('jobStatus replays from a cursor in messages of at most 200 events, and ends with the final event despite late reports', async () => {
  const jobId = await runningJob()
  for (let more = 0; more < 450; more++) await addEvent(database.db.sql, jobId, { type: 'PRIORITY_CHANGED' })
  await end(jobId)
  await addEvent(database.db.sql, jobId, { type: 'LATE_REPORT', from: 'SUCCEEDED' })
  const messages = await Array.fromAsync(await feed.jobStatus({ viewer: ada, jobId, after: 1 }))
  expect(seqs(messages)).toEqual(Array.from({ length: 453 }, (_, index) => index + 2))
  for (const message of messages) expect(message).toMatchObject({ kind: 'transitions', phase: 'REPLAY' })
  expect(messages.filter((message) => message.kind === 'transitions' && message.events.length > 200)).toEqual([])
})

test('jobStatus of a finished job completes at once, whether there are events to send or not', async () => {
  const jobId = await runningJob()
  await end(jobId)
  expect(seqs(await Array.fromAsync(await feed.jobStatus({ viewer: ada, jobId })))).toEqual([4])
  const nothing = await Array.fromAsync(await feed.jobStatus({ viewer: ada, jobId, after: 4 }))
  expect(nothing).toMatchObject([{ events: [], cursor: 4, phase: 'REPLAY', isFinal: true }])
})

test('a missing job, or a job of another user, is not found', async () => {
  const jobId = await runningJob()
  await expect(feed.jobStatus({ viewer: bob, jobId })).rejects.toBeInstanceOf(NotFound)
  await expect(feed.jobStatus({ viewer: ada, jobId: 'job_none' })).rejects.toBeInstanceOf(NotFound)
})

test('progress is sent as a message without events', async () => {
  const jobId = await runningJob()
  const stream = await feed.jobStatus({ viewer: ada, jobId, after: 3 })
  expect(await transitions(stream)).toMatchObject({ events: [], phase: 'REPLAY' })
  await database.db.sql.query('UPDATE job SET progress_fraction = 0.5, told_at = berth_now() WHERE id = $1', [jobId])
  expect(await transitions(stream)).toMatchObject({ events: [], cursor: 3, phase: 'LIVE', isFinal: false })
  await stream.return()
})

test('a changed waiting reason is sent as a message without events', async () => {
  const { sql } = database.db
  const { jobId, runId } = await addJob(sql, ada.userId, { state: 'STARTING' })
  await addEvent(sql, jobId, { type: 'CREATED', to: 'STARTING' })
  await sequence()
  const stream = await feed.jobStatus({ viewer: ada, jobId, after: 1 })
  await transitions(stream)
  await storeRunFacts(sql, [{ runId, info: 'Pulling image' }])
  const told = await transitions(stream)
  expect(told).toMatchObject({ events: [], cursor: 1, job: { stateInfo: 'Pulling image' } })
  await storeRunFacts(sql, [{ runId, info: 'Pulling image' }])
  const [same] = await sql.query<{ toldAt: Date }>('SELECT told_at AS "toldAt" FROM job WHERE id = $1', [jobId])
  expect(same).toEqual({ toldAt: told.job.toldAt })
  await stream.return()
})

test('jobStatus sends a reset and completes if its job is deleted', async () => {
  const jobId = await runningJob()
  const stream = await feed.jobStatus({ viewer: ada, jobId })
  const { mark } = await transitions(stream)
  await remove(jobId)
  expect(await Array.fromAsync(stream)).toEqual([
    { kind: 'reset', reason: 'DELETED', jobIds: [jobId], cursor: 3, mark },
  ])
})

test('jobUpdates reports a deletion once to each viewer of the job, after the events of the job', async () => {
  const { position: after } = await feed.head()
  const [kept, mine, other, hers] = [
    await runningJob(ada, { name: 'gone-0' }),
    await runningJob(ada, { name: 'gone-1' }),
    await runningJob(ada, { name: 'other' }),
    await runningJob(bob, { name: 'gone-2' }),
  ]
  const live = feed.jobUpdates({ viewer: ada, filter: { name: 'gone-*' }, after })
  const seen = [await transitions(live), await transitions(live)]
  expect(seen.map(({ jobId, job }) => [jobId, job.version])).toEqual([
    [kept, 3],
    [mine, 3],
  ])
  await remove(mine, other, hers)
  const told = { kind: 'reset', reason: 'DELETED', jobIds: [mine] }
  expect((await live.next()).value).toMatchObject(told)
  await live.return()

  // A later reader receives the deletion as well, and no event of a deleted job.
  const late = feed.jobUpdates({ viewer: ada, after })
  expect(await transitions(late)).toMatchObject({ jobId: kept, events: [{ seq: 1 }, { seq: 2 }, { seq: 3 }] })
  const gone: string[] = []
  while (gone.length < 2) {
    const { value } = await late.next()
    if (value?.kind !== 'reset') throw new Error(`not a reset: ${value?.kind}`)
    gone.push(...value.jobIds)
  }
  await late.return()
  expect(gone.sort()).toEqual([mine, other].sort())
})

test('jobUpdates with a filter by state reports the deletion of a job in any state, because its events are deleted', async () => {
  const { position: after } = await feed.head()
  const done = await runningJob()
  await end(done)
  await remove(done)
  const running = feed.jobUpdates({ viewer: ada, filter: { states: ['RUNNING'] }, after })
  expect((await running.next()).value).toMatchObject({ kind: 'reset', jobIds: [done] })
  await running.return()
})

test('a cursor older than retention, or beyond the events of the job, causes a reset, and the stored events follow', async () => {
  const jobId = await runningJob()
  await addEvent(database.db.sql, jobId, { type: 'PRIORITY_CHANGED' })
  await database.db.sql.query('DELETE FROM event WHERE job_id = $1 AND seq < 3', [jobId])
  await end(jobId)
  const early = await Array.fromAsync(await feed.jobStatus({ viewer: ada, jobId, after: 1 }))
  expect(early[0]).toEqual({ kind: 'reset', reason: 'RETENTION', jobIds: [], cursor: 2 })
  expect(seqs(early)).toEqual([3, 4, 5])
  const late = await Array.fromAsync(await feed.jobStatus({ viewer: ada, jobId, after: 99 }))
  expect(late[0]).toMatchObject({ kind: 'reset', reason: 'RETENTION' })
  expect(seqs(late)).toEqual([5])
})

test('jobUpdates neither loses nor repeats events of twelve writers, and keeps their order', async () => {
  const jobs = await Promise.all(Array.from({ length: 12 }, () => runningJob()))
  const { position: after } = await feed.head()
  const total = 12 * 40
  const reading = (async () => {
    const events: { jobId: string; seq: number; position: number | null }[] = []
    const stream = feed.jobUpdates({ viewer: ada, after })
    for await (const message of stream) {
      if (message.kind !== 'transitions') continue
      expect(new Set(message.events.map(({ jobId }) => jobId))).toEqual(new Set([message.jobId]))
      expect(message.cursor).toBe(message.events.at(-1)?.position)
      events.push(...message.events)
      if (events.length >= total) break
    }
    return events
  })()
  let writing = true
  const sequencer = (async () => {
    while (writing) await sequenceOnce({ db: database.db, wakeups })
    await sequence()
  })()
  await Promise.all(
    jobs.map(async (jobId) => {
      for (let more = 0; more < 40; more++) await addEvent(database.db.sql, jobId, { type: 'PRIORITY_CHANGED' })
    }),
  )
  writing = false
  await sequencer
  const events = await reading
  expect(events.map(({ position }) => position)).toEqual(Array.from({ length: total }, (_, index) => after + 1 + index))
  for (const jobId of jobs)
    expect(events.filter((event) => event.jobId === jobId).map(({ seq }) => seq)).toEqual(
      Array.from({ length: 40 }, (_, index) => 4 + index),
    )
})

test('a filter matches an event if the job matched before or after it; jobs of other users stay hidden', async () => {
  const { position: after } = await feed.head()
  const mine = await runningJob(ada, { name: 'train-1' })
  await runningJob(ada, { name: 'other' })
  await runningJob(bob, { name: 'train-2' })
  await end(mine)
  await addEvent(database.db.sql, mine, { type: 'LATE_REPORT', from: 'SUCCEEDED' })
  await sequence()
  const read = async (filter: Parameters<Feed['jobUpdates']>[0]['filter'], count: number) => {
    const stream = feed.jobUpdates({ viewer: ada, filter, after })
    const got: number[] = []
    while (got.length < count) got.push(...(await transitions(stream)).events.map(({ seq }) => seq))
    await stream.return()
    return got
  }
  expect(await read({ name: 'train-*' }, 5)).toEqual([1, 2, 3, 4, 5])
  expect(await read({ name: 'train-*', states: ['RUNNING'] }, 2)).toEqual([3, 4])
  expect(await read({ name: 'train-*', stateCategories: ['FINAL'] }, 2)).toEqual([4, 5])
  expect(await read({ ids: [mine], finishedAfter: new Date(0) }, 2)).toEqual([4, 5])
})

test('a reader that falls behind the events in memory continues from the database', async () => {
  const jobId = await runningJob()
  const { position: after } = await feed.head()
  const stream = feed.jobUpdates({ viewer: ada, after })
  await addEvent(database.db.sql, jobId, { type: 'PRIORITY_CHANGED' })
  await sequence()
  const positions = (await transitions(stream)).events.map(({ position }) => position)
  const many = 6_000
  await database.db.sql.query(
    `INSERT INTO event (job_id, seq, type) SELECT $1, 4 + n, 'PRIORITY_CHANGED' FROM generate_series(1, $2::int) n`,
    [jobId, many],
  )
  await sequence()
  while (positions.length <= many) positions.push(...(await transitions(stream)).events.map(({ position }) => position))
  expect(positions).toEqual(Array.from({ length: many + 1 }, (_, index) => after + 1 + index))
  await stream.return()
})

test('jobUpdates sends a reset if its cursor is older than retention', async () => {
  await runningJob()
  await database.db.sql.query('UPDATE feed_head SET forgotten = position - 2')
  await database.db.sql.query('DELETE FROM event WHERE position <= (SELECT forgotten FROM feed_head)')
  const { position: head } = await feed.head()
  const stream = feed.jobUpdates({ viewer: ada, after: 0 })
  expect((await stream.next()).value).toEqual({ kind: 'reset', reason: 'RETENTION', jobIds: [], cursor: head - 2 })
  expect((await transitions(stream)).events).toHaveLength(2)
  await stream.return()
})

test('jobUpdates sends a reset if the position of its cursor now has another event', async () => {
  await runningJob()
  const { position, mark } = await feed.head()
  await runningJob()
  const { position: head } = await feed.head()
  const first = async (given: string | undefined) => {
    const stream = feed.jobUpdates({ viewer: ada, after: position, mark: given })
    const { value } = await stream.next()
    await stream.return()
    return value
  }
  const goesOn = { kind: 'transitions', events: [{ position: position + 1 }, {}, {}], mark: expect.any(String) }
  expect(mark).toMatch(/^[\w-]{8}$/)
  expect(await first(mark)).toMatchObject(goesOn)
  expect(await first(undefined)).toMatchObject(goesOn)
  expect(await first('another8')).toEqual({ kind: 'reset', reason: 'RETENTION', jobIds: [], cursor: head })
  await database.db.sql.query('DELETE FROM event WHERE position = $1', [position])
  expect(await first('another8')).toMatchObject(goesOn)
})

const aMoment = new Date('2026-01-01T12:00:00Z')

test('silent streams get heartbeats, whose cursor is after the events that the filter left out', async () => {
  const clock = createFakeClock()
  const quiet = createFeed({ db: database.db, wakeups, clock, time: { nowMs: () => aMoment.getTime() }, log })
  const stream = quiet.jobUpdates({ viewer: bob, filter: { name: 'nobody' } })
  const first = stream.next()
  await runningJob(bob)
  const { position: head, mark } = await quiet.head()
  let beat: IteratorResult<unknown> | undefined
  void first.then((result) => {
    beat = result
  })
  await until(
    async () => {
      await clock.advance(1_000)
      return beat
    },
    { what: 'a heartbeat comes' },
  )
  expect(beat?.value).toEqual({ kind: 'heartbeat', cursor: head, mark, at: aMoment })
  await stream.return()
  expect(quiet.openReaders()).toBe(0)
  await until(() => clock.sleeping === 0, { what: 'nothing waits any more' })
})

test.each(['jobStatus', 'jobUpdates'] as const)('a silent %s wakes up every 15 s for its heartbeat', async (name) => {
  const jobId = await runningJob()
  const open = async function* (own: { clock: Clock; time: Time }) {
    yield* await createFeed({ db: database.db, wakeups, ...own, log })[name]({ viewer: ada, jobId })
  }
  expect(await measureHeartbeat(open)).toEqual({ afterMs: 15_000, sleeps: [14_999.5] })
})

test('streams without wake-ups receive the same events by polling', async () => {
  const deaf = new Wakeups({ address: null, topics, clock: systemClock, log })
  const polling = createFeed({ db: database.db, wakeups: deaf, clock: systemClock, time: machineTime, log })
  const jobId = await runningJob()
  const reading = Array.fromAsync(await polling.jobStatus({ viewer: ada, jobId }))
  await until(() => polling.openReaders() === 1, { what: 'the reader has begun' })
  await end(jobId)
  expect(seqs(await reading)).toEqual([3, 4])
  await deaf.stop()
})

test('an outage of the database only delays the streams', async () => {
  const jobId = await runningJob()
  const after = (await feed.head()).position - 1
  const silent = createFeed({
    db: database.db,
    wakeups,
    clock: systemClock,
    time: machineTime,
    log: createLog('silent'),
  })
  const status = await silent.jobStatus({ viewer: ada, jobId, after: 2 })
  const updates = silent.jobUpdates({ viewer: ada, after })
  const messages = await runDuringOutage(database, { tables: 'event', failures: 4 }, () =>
    Promise.all([status.next(), updates.next()]),
  )
  for (const { value } of messages) expect(value).toMatchObject({ kind: 'transitions', jobId, events: [{ seq: 3 }] })
  await Promise.all([status.return(), updates.return()])
})

test('closed streams release all resources, wherever they were waiting', async () => {
  const jobId = await runningJob()
  const streams = [
    ...(await Promise.all(Array.from({ length: 20 }, () => feed.jobStatus({ viewer: ada, jobId, after: 3 })))),
    ...Array.from({ length: 20 }, () => feed.jobUpdates({ viewer: ada })),
  ]
  const pending = streams.map((stream) => stream.next())
  await until(() => feed.openReaders() === 40, { what: 'all have begun' })
  await Promise.all(streams.map((stream) => stream.return()))
  await Promise.all(pending)
  expect(feed.openReaders()).toBe(0)
})
