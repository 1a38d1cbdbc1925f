import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Executor } from '../../src/executors/executor.ts'
import { type Clock, systemClock } from '../../src/platform/clock.ts'
import { createLog, type Log } from '../../src/platform/log.ts'
import { createReachability } from '../../src/scheduler/capacity-watch.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { createFakeClock } from '../support/clock.ts'
import { openTestDomainForEach } from '../support/domain.ts'
import { bindVerbs } from '../support/executor-verbs.ts'
import { type FakeBackend, openFakeBackend } from '../support/fake-backend.ts'
import { startScheduler } from '../support/leader.ts'
import { until } from '../support/until.ts'

/** Several processes compete for a pool, and not all of them reach its backend. */

const { database, it } = openTestDomainForEach({ nodes: [] })
let backend: FakeBackend
let schedulers: Scheduler[]

beforeEach(async () => {
  backend = await openFakeBackend(it.domain, ['n1', 'n2'])
  schedulers = []
})
afterEach(async () => {
  await Promise.all(schedulers.map((scheduler) => scheduler.stop()))
  await backend.close()
})

/** Waits pass this many times as fast; the lease is the database's, and is renewed as often. */
const fast = (times: number): Clock => ({
  monotonicMs: () => systemClock.monotonicMs() * times,
  sleep: (ms, signal) => systemClock.sleep(ms / times, signal),
})

const holder = async () =>
  (await database.db.sql.query<{ holder: string | null }>('SELECT holder FROM scheduler_leader'))[0]?.holder

function compete(name: string, executor: Executor, { clock = fast(20), log = it.domain.log } = {}) {
  schedulers.push(startScheduler({ ...it.domain, clock, log }, { simulated: executor }, { holder: name }))
}

test('a leader with an unreachable backend hands the pool to a process that reaches the backend', async () => {
  const away = {
    ...bindVerbs(backend),
    answers: true,
    capacity: async () => (away.answers ? backend.nodes : Promise.reject()),
  }
  compete('away', away)
  await until(async () => (await holder()) === 'away', { what: 'the first one leads' })
  compete('near', backend)
  away.answers = false
  const environment = [{ name: 'SIM_RUN_SECONDS', value: '1e6' }]
  const id = await it.submit({ environment, resources: { cpu: 3, memoryBytes: 1 } })
  await until(async () => (await holder()) === 'near', { what: 'the other one leads' })
  await until(() => [...backend.given.values()].some(({ run }) => run.jobId === id), {
    what: 'the backend has the job',
  })
  await backend.place()
  const isRunning = async () =>
    (await database.db.sql.query("SELECT 1 FROM job WHERE id = $1 AND state = 'RUNNING'", [id])).length === 1
  await until(isRunning, { what: 'the job runs' })
  expect(await holder()).toBe('near')
})

test('two processes with an unreachable backend alternate, and each leads twice as long in its next term', async () => {
  const clock = fast(100)
  const terms = [competeCutOff('one', clock), competeCutOff('other', clock)]
  await until(() => terms.some((seconds) => seconds.length >= 2), { what: 'one gave way twice' })
  for (const seconds of terms)
    for (const [count, length] of seconds.entries()) expect(length).toBeGreaterThanOrEqual(30 * 2 ** count)
})

/** Lengths in seconds of the terms that the leader ended by giving way. */
function competeCutOff(name: string, clock: Clock): readonly number[] {
  const seconds: number[] = []
  let beganMs = 0
  const log = Object.assign(Object.create(createLog('silent')), {
    info(_about: object, message: string) {
      if (message === 'leads') beganMs = clock.monotonicMs()
      if (message === 'gives way') seconds.push((clock.monotonicMs() - beganMs) / 1_000)
    },
  }) as Log
  compete(name, { ...bindVerbs(backend), capacity: () => Promise.reject(new Error('cut off')) }, { clock, log })
  return seconds
}

test('a leader with an unreachable backend doubles its wait with each term, up to 10 min', async () => {
  const clock = createFakeClock()
  let answers = false
  const executor = {
    ...bindVerbs(backend),
    capacity: async () => (answers ? [] : Promise.reject(new Error('cut off'))),
  }
  const reach = createReachability({ ...it.domain, clock }, new Map([['simulated', executor]]))

  /** Seconds until a leader of one term leaves the pool. */
  async function term() {
    const beganMs = clock.monotonicMs()
    let leftMs: number | null = null
    const watch = reach.watch({ pool: 'sim', epoch: 1, holder: 'test' }, () => {
      leftMs ??= clock.monotonicMs()
    })
    watch?.start()
    const passes = async () => {
      await clock.advance(10_000)
      return leftMs !== null
    }
    await until(passes, { what: 'the leader leaves the pool' })
    await watch?.stop()
    return ((leftMs ?? 0) - beganMs) / 1_000
  }

  const waits: number[] = []
  for (let count = 0; count < 7; count++) waits.push(await term())
  expect(waits).toEqual([30, 60, 120, 240, 480, 600, 600])
  answers = true
  expect(await reach.canServe()).toBe(true)
  answers = false
  expect(await term()).toBe(30)
})
