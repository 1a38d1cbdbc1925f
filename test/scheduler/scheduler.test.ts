import { setTimeout } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { cancelJob } from '../../src/domain/control/cancel.ts'
import { createSequencer } from '../../src/domain/jobs/sequence.ts'
import type { JobState } from '../../src/domain/state.ts'
import type { Executor } from '../../src/executors/executor.ts'
import { readLog } from '../../src/logs/read.ts'
import { createLog } from '../../src/platform/log.ts'
import type { Scheduler, SchedulerOptions } from '../../src/scheduler/scheduler.ts'
import { openTestDomainForEach } from '../support/domain.ts'
import { bindVerbs } from '../support/executor-verbs.ts'
import { openSimulated } from '../support/fake-backend.ts'
import { startScheduler } from '../support/leader.ts'
import { recordLines } from '../support/recorded-lines.ts'
import { until } from '../support/until.ts'
import { isWhole } from '../support/whole.ts'

const { database, it } = openTestDomainForEach()
let executor: Executor
let stops: (() => Promise<unknown>)[]

beforeEach(async () => {
  executor = await openSimulated(it.domain)
  const sequencer = createSequencer(it.domain)
  sequencer.start()
  stops = [() => sequencer.stop(), () => executor.close()]
})
afterEach(async () => {
  for (const stop of stops) await stop()
})

function start(holder: string, more: Partial<SchedulerOptions> = {}): Scheduler {
  const scheduler = startScheduler(it.domain, { simulated: executor }, { holder, ...more })
  stops.unshift(() => scheduler.stop())
  return scheduler
}

const sim = (environment: Record<string, string>, more: Record<string, unknown> = {}) =>
  it.submit({
    environment: Object.entries(environment).map(([name, value]) => ({ name, value })),
    resources: { cpu: 0.1, memoryBytes: 1 },
    ...more,
  })

const row = async (id: string) =>
  (
    await database.db.sql.query<{
      state: JobState
      state_reason: string
      state_info: string
      exit_code: number
      run_number: number
    }>('SELECT state, state_reason, state_info, exit_code, run_number FROM job WHERE id = $1', [id])
  )[0]
const reaches = (id: string, state: JobState) =>
  until(async () => (await row(id))?.state === state, { what: `${id} is ${state}` })

test('a job runs from submission to its end: four events, one run, its log complete and closed', async () => {
  start('a')
  const id = await sim({ SIM_EXIT_CODE: '3', SIM_LOG_LINES: '2' })
  await reaches(id, 'FAILED')
  expect(await row(id)).toMatchObject({ state: 'FAILED', state_reason: 'EXIT_CODE', exit_code: 3, run_number: 1 })
  const events = await database.db.sql.query<{ to_state: string; metadata: { nativeId?: string } | null }>(
    'SELECT to_state, metadata FROM event WHERE job_id = $1 ORDER BY seq',
    [id],
  )
  expect(events.map((event) => event.to_state)).toEqual(['QUEUED', 'STARTING', 'RUNNING', 'FAILED'])
  for (const { metadata } of events.slice(2)) expect(metadata?.nativeId).toMatch(/^run_/)
  const log = await readLog(database.db.sql, { jobId: id, streams: ['STDOUT'], linesMax: 10 })
  expect(log).toMatchObject({ text: 'line 1\nline 2\n', isFinal: true })
})

test('a start that fails because of a bug refers to the server log, which has the cause', async () => {
  const { lines, destination } = recordLines()
  const cause = new TypeError('spawn is not a function')
  const broken: Executor = { ...bindVerbs(executor), start: () => Promise.reject(cause) }
  const domain = { ...it.domain, log: createLog('error', { destination }) }
  const scheduler = startScheduler(domain, { simulated: broken }, { holder: 'a', startAttemptsMax: 1 })
  stops.unshift(() => scheduler.stop())
  const id = await sim({})
  await reaches(id, 'FAILED')
  expect(await row(id)).toMatchObject({
    state_reason: 'START_FAILED',
    state_info: 'Start 1 of 1 failed: The executor failed; the log of the server says why',
  })
  expect(lines).toContainEqual(
    expect.objectContaining({
      msg: 'a start failed',
      run: expect.any(String),
      err: expect.objectContaining({ message: cause.message }),
    }),
  )
})

describe('a cancellation', () => {
  test('ends a running job', async () => {
    start('a')
    const id = await sim({ SIM_RUN_SECONDS: '60' })
    await reaches(id, 'RUNNING')
    expect(await cancelJob(it.domain, it.admin, { jobId: id })).toMatchObject({ changed: true })
    await reaches(id, 'CANCELLED')
  })

  test('ends a job that takes long to start', async () => {
    start('a')
    const id = await sim({ SIM_START_SECONDS: '60' })
    await reaches(id, 'STARTING')
    await cancelJob(it.domain, it.admin, { jobId: id })
    await reaches(id, 'CANCELLED')
  })

  test('ends a job that ignores TERM after the grace period', async () => {
    start('a', { graceMs: 200 })
    const id = await sim({ SIM_RUN_SECONDS: '60', SIM_IGNORE_TERM_SECONDS: '60' })
    await reaches(id, 'RUNNING')
    await cancelJob(it.domain, it.admin, { jobId: id })
    await reaches(id, 'CANCELLED')
    expect(await row(id)).toMatchObject({ exit_code: 137 })
  })
})

/** 1,000 jobs with `npm run test:whole`. */
const rounds = isWhole ? 10 : 3

test('example 74: jobs of 0 … 50 ms cancelled at random moments each end once, CANCELLED only by a signal or before a start', async () => {
  start('a')
  const next = random(20_261_121)
  const ids: string[] = []
  const submitAndCancel = async () => {
    const id = await sim({ SIM_RUN_SECONDS: String(next() * 0.05) }, { resources: { cpu: 0.01, memoryBytes: 1 } })
    ids.push(id)
    for (let turns = Math.floor(next() * 60); turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve))
    await cancelJob(it.domain, it.admin, { jobId: id })
  }
  for (let round = 0; round < rounds; round++) await Promise.all(Array.from({ length: 100 }, submitAndCancel))
  const open = () => database.db.sql.query('SELECT 1 FROM job WHERE NOT log_closed LIMIT 1')
  await until(async () => (await open()).length === 0, { what: 'all have ended' })

  const ends = await database.db.sql.query<{ state: JobState; exit: number | null; ran: boolean; finals: number }>(
    `SELECT j.state, r.exit_code AS exit, r.handle IS NOT NULL AS ran,
       (SELECT count(*)::int FROM event e WHERE e.job_id = j.id AND berth_is_final(e.to_state)) AS finals
     FROM job j JOIN run r ON r.job_id = j.id`,
  )
  expect(ends).toHaveLength(100 * rounds)
  expect(ends.every(({ finals }) => finals === 1)).toBe(true)
  const byState = Map.groupBy(ends, ({ state }) => state)
  expect([...byState.keys()].every((state) => state === 'CANCELLED' || state === 'SUCCEEDED')).toBe(true)
  expect(byState.get('SUCCEEDED')?.every(({ exit }) => exit === 0) ?? true).toBe(true)
  expect(byState.get('CANCELLED')?.every(({ exit, ran }) => (ran ? exit === 143 : exit === null))).toBe(true)
})

/** A linear congruential generator with a fixed seed, so that a failure can be reproduced. */
function random(seed: number) {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state / 2 ** 31
  }
}

test('the maximum run time counts from RUNNING', async () => {
  start('a')
  const id = await sim({ SIM_RUN_SECONDS: '60', SIM_START_SECONDS: '0.3' }, { maxRunTimeSeconds: 0.2 })
  await reaches(id, 'FAILED')
  expect(await row(id)).toMatchObject({ state_reason: 'MAX_RUN_TIME', exit_code: 143 })
})

test.for([
  ['pulls its image', {}, 2_500],
  ['keeps it in its queue', { SIM_START_SECONDS: '2.5' }, 0],
] as const)('the time in which its backend %s does not count as run time', async ([, environment, pullMs]) => {
  const begin = executor.start.bind(executor)
  executor.start = async (...order) => {
    await setTimeout(pullMs)
    return begin(...order)
  }
  start('a')
  const id = await sim({ ...environment, SIM_RUN_SECONDS: '0' }, { maxRunTimeSeconds: 2 })
  await until(async () => ['SUCCEEDED', 'FAILED'].includes((await row(id))?.state ?? ''), { what: `${id} is over` })
  expect(await row(id)).toMatchObject({ state: 'SUCCEEDED', run_number: 1 })
})

test('a retry makes a new run for the exit codes that it lists', async () => {
  start('a')
  const id = await sim({ SIM_EXIT_CODE: '5' }, { retry: { maxAttempts: 3, onExitCodes: [5] } })
  await reaches(id, 'FAILED')
  expect(await row(id)).toMatchObject({ exit_code: 5, run_number: 3 })
})

test('a stopping leader leaves its runs running, and the next leader continues them', async () => {
  const first = start('a')
  const [running, cancelled] = [await sim({ SIM_RUN_SECONDS: '1' }), await sim({ SIM_RUN_SECONDS: '60' })]
  await reaches(running, 'RUNNING')
  await reaches(cancelled, 'RUNNING')
  await first.stop()
  await cancelJob(it.domain, it.admin, { jobId: cancelled })
  start('b')
  await reaches(running, 'SUCCEEDED')
  await reaches(cancelled, 'CANCELLED')
})

test('runs that the executor no longer knows are INTERRUPTED, or run again', async () => {
  const first = start('a')
  const [plain, again] = [
    await sim({ SIM_RUN_SECONDS: '60' }),
    await sim({ SIM_RUN_SECONDS: '60' }, { restartable: true }),
  ]
  await reaches(plain, 'RUNNING')
  await reaches(again, 'RUNNING')
  await first.stop()
  await executor.close()
  executor = await openSimulated(it.domain)
  start('b')
  await reaches(plain, 'INTERRUPTED')
  await until(async () => (await row(again))?.run_number === 2, { what: 'a second run' })
  await reaches(again, 'RUNNING')
  await cancelJob(it.domain, it.admin, { jobId: again })
  await reaches(again, 'CANCELLED')
})

test('short jobs have one run each, and release all resources', async () => {
  start('a')
  const ids = await Promise.all(Array.from({ length: 50 * rounds }, () => sim({ SIM_LOG_LINES: '1' })))
  const open = () => database.db.sql.query('SELECT 1 FROM job WHERE NOT log_closed LIMIT 1')
  await until(async () => (await open()).length === 0, { what: 'all have ended' })
  expect(await database.db.sql.query('SELECT 1 FROM run')).toHaveLength(ids.length)
  expect(await database.db.sql.query('SELECT 1 FROM allocation')).toEqual([])
})
