import { afterEach, beforeEach, expect, test } from 'vitest'
import { cancelJob } from '../../src/domain/control/cancel.ts'
import type { Domain } from '../../src/domain/domain.ts'
import { type HoldingRun, readHoldingRuns, readRunsDue } from '../../src/domain/jobs/runs.ts'
import type { JobState } from '../../src/domain/state.ts'
import type { Executor, Observation } from '../../src/executors/executor.ts'
import { type Clock, systemClock } from '../../src/platform/clock.ts'
import { openDb } from '../../src/platform/db.ts'
import { createLog } from '../../src/platform/log.ts'
import { Carrier } from '../../src/scheduler/run-carrier.ts'
import { createWithdrawals, type Withdrawals } from '../../src/scheduler/stale-starts.ts'
import { openTestDomainForEach } from '../support/domain.ts'
import { bindVerbs } from '../support/executor-verbs.ts'
import { openSimulated } from '../support/fake-backend.ts'
import { carrierOptions, createLeader } from '../support/leader.ts'
import { createDoor } from '../support/outage.ts'
import { recordLines } from '../support/recorded-lines.ts'
import { until } from '../support/until.ts'

const graceMs = 1_000

/** A leader freezes right before it starts a run, and thaws when another process leads. */
const { database, it } = openTestDomainForEach()
let executor: Executor
let dropped: AbortController
let carriers: Carrier[]
let withdrawals: Withdrawals
/** Observations of runs by the executor at the call of `forget`. */
let forgotten: (Observation | undefined)[]
let id: string
let order: HoldingRun

beforeEach(async () => {
  executor = await createWatched()
  withdrawals = createWithdrawals(it.domain, graceMs)
  dropped = new AbortController()
  carriers = []
  const leader = await createLeader(it.domain, 'sim')
  id = await it.submit({ environment: [{ name: 'SIM_RUN_SECONDS', value: '3600' }] })
  await leader.tick()
  order = await runOf(1)
})
afterEach(async () => {
  dropped.abort()
  for (const { done } of carriers) await done
  await withdrawals.stop()
  await executor.close()
})

async function createWatched(): Promise<Executor> {
  const simulated = await openSimulated(it.domain)
  forgotten = []
  return {
    ...bindVerbs(simulated),
    async forget(handle) {
      forgotten.push((await simulated.inspect([handle]))[0])
      await simulated.forget?.(handle)
    },
  }
}

/** The epoch is 1 before `takeOver`, then 2. */
const leaderOf = (epoch: number) => ({ pool: 'sim', epoch, holder: epoch === 1 ? 'test' : 'b' })

async function runOf(epoch: number): Promise<HoldingRun> {
  const [run] = await readHoldingRuns(database.db.sql, leaderOf(epoch))
  if (!run) throw new Error('Nothing runs')
  return run
}

interface By {
  executor?: Executor
  domain?: Domain
  withdraw?: Withdrawals['withdraw']
}

function carry(run: HoldingRun, epoch: number, by: By = {}): Carrier {
  const { domain, withdraw } = { domain: it.domain, withdraw: withdrawals.withdraw, ...by }
  const carrying = {
    ...carrierOptions(domain, leaderOf(epoch), { graceMs, withdraw }),
    signal: dropped.signal,
    inherited: false,
  }
  const carrier = new Carrier(run, by.executor ?? executor, carrying)
  carriers.push(carrier)
  return carrier
}

/** The carrier of the old leader, which is frozen in the start; the start continues when the leader thaws. */
async function frozen(by: By = {}) {
  const begun = Promise.withResolvers<void>()
  const thawed = Promise.withResolvers<void>()
  const slow: Executor = {
    ...bindVerbs(executor),
    async start(run) {
      begun.resolve()
      await thawed.promise
      return executor.start(run)
    },
  }
  const carrier = carry(order, 1, { ...by, executor: slow })
  await begun.promise
  return { carrier, thaw: thawed.resolve }
}

const takeOver = () => database.db.sql.query("UPDATE scheduler_leader SET epoch = 2, holder = 'b' WHERE pool = 'sim'")
const stateOf = async () =>
  (await database.db.sql.query<{ state: JobState }>('SELECT state FROM job WHERE id = $1', [id]))[0]?.state
const reaches = (state: JobState) => until(async () => (await stateOf()) === state, { what: `the job is ${state}` })
const observed = async () => {
  const handle = await executor.find(order.runId)
  return handle === null ? null : (await executor.inspect([handle]))[0]
}

/** The observation of the run at `forget`. */
async function withdrawn() {
  await until(async () => (await observed()) === null, { what: 'it is forgotten' })
  return forgotten.map((last) => last?.state === 'ended' && { state: last.state, stopped: last.stopped })
}

test('a run is stopped if a thawed old leader starts it after its job was cancelled', async () => {
  const old = await frozen()
  await takeOver()
  await cancelJob(it.domain, it.admin, { jobId: id })
  await carry(await runOf(2), 2).done
  expect(await stateOf()).toBe('CANCELLED')
  expect(await observed()).toBeNull()
  old.thaw()
  await old.carrier.done
  expect(await withdrawn()).toEqual([{ state: 'ended', stopped: true }])
  expect(await stateOf()).toBe('CANCELLED')
})

test('a late run is stopped even if the leadership ended before the handle was stored', async () => {
  const old = await frozen()
  await takeOver()
  await cancelJob(it.domain, it.admin, { jobId: id })
  dropped.abort()
  old.thaw()
  await old.carrier.done
  await until(async () => (await observed())?.state === 'ended', { what: 'it has ended' })
  expect(await observed()).toMatchObject({ stopped: true })
})

/** A leader that loses its database connection before it thaws, and then retries without pauses. */
async function cutOff() {
  const door = await createDoor(database.url)
  const db = openDb({ address: door, connectionsMax: 2, log: it.domain.log, applicationName: 'berth thaw' })
  let pauses = 0
  const clock: Clock = {
    ...systemClock,
    sleep() {
      pauses++
      return new Promise((resolve) => setImmediate(resolve))
    },
  }
  const { destination, lines } = recordLines()
  const domain = { ...it.domain, db, clock, log: createLog('error', { destination }) }
  const late = createWithdrawals(domain, graceMs)
  const old = await frozen({ domain, withdraw: late.withdraw })
  await takeOver()
  await cancelJob(it.domain, it.admin, { jobId: id })
  await carry(await runOf(2), 2).done
  await door.shut()
  old.thaw()
  dropped.abort()
  await old.carrier.done
  return {
    door,
    late,
    lines,
    pauses: () => pauses,
    async [Symbol.asyncDispose]() {
      await late.stop()
      await db.close()
      await door.shut()
    },
  }
}

test('a thawed leader searches for its late run again until the database is back', async () => {
  await using old = await cutOff()
  await until(() => old.pauses() > 20, { what: 'it was in vain for twenty times' })
  expect(await observed()).toMatchObject({ state: 'running' })
  await old.door.open()
  expect(await withdrawn()).toEqual([{ state: 'ended', stopped: true }])
})

test('a late run that has ended is not logged', async () => {
  const { destination, lines } = recordLines()
  const late = createWithdrawals({ ...it.domain, log: createLog('warn', { destination }) }, graceMs)
  await takeOver()
  await cancelJob(it.domain, it.admin, { jobId: id })
  await carry(await runOf(2), 2).done
  late.withdraw({ runId: order.runId, executor, handle: order.runId })
  await until(() => forgotten.length > 0, { what: 'it is forgotten' })
  await late.stop()
  expect(lines).toEqual([])
})

test('a server that stops tries once more to stop late runs, and logs each run that it leaves running', async () => {
  await using old = await cutOff()
  old.late.withdraw({ runId: 'run_other', executor, handle: 'run_other' })
  await old.late.stop()
  const msg = 'a run may have been started too late: if its process still runs, no server stops it'
  expect(old.lines).toMatchObject([
    { run: order.runId, msg },
    { run: 'run_other', msg },
  ])
  expect(await observed()).toMatchObject({ state: 'running' })
  expect(forgotten).toEqual([])
})

test('a late run of a deleted job is stopped once, and removed when it has ended', async () => {
  const did: string[] = []
  let looks = 0
  const slow: Executor = {
    ...bindVerbs(executor),
    inspect: async () => [
      ++looks > 3 ? { state: 'ended', exitCode: 143, signal: 15, stopped: true } : { state: 'running' },
    ],
    stop: async () => void did.push('stop'),
    forget: async () => void did.push(looks > 3 ? 'forget' : 'forget while it runs'),
  }
  const late = createWithdrawals(it.domain, graceMs)
  late.withdraw({ runId: 'run_deleted', executor: slow, handle: 'slow' })
  await until(() => did.length === 2, { what: 'it is forgotten' })
  await late.stop()
  expect(did).toEqual(['stop', 'forget'])
})

test('a late run of a job in CANCELLING is stopped, and removed only after its end is stored', async () => {
  const old = await frozen()
  await takeOver()
  await cancelJob(it.domain, it.admin, { jobId: id })
  old.thaw()
  await old.carrier.done
  await until(async () => (await observed())?.state === 'ended', { what: 'it was stopped' })
  expect(forgotten).toEqual([])
  await carry(await runOf(2), 2).done
  expect(await stateOf()).toBe('CANCELLED')
  await until(async () => (await observed()) === null, { what: 'it is forgotten' })
})

test('a run that a thawed leader starts for a job in STARTING is taken over by the new leader', async () => {
  const old = await frozen()
  await takeOver()
  old.thaw()
  await old.carrier.done
  expect(await stateOf()).toBe('STARTING')
  expect(await observed()).toMatchObject({ state: 'running' })
  carry(await runOf(2), 2)
  await reaches('RUNNING')

  const older = await frozen()
  older.thaw()
  await older.carrier.done
  expect(await observed()).toMatchObject({ state: 'running' })
})

test('a run that is cancelled while no process leads is stopped and removed by the next leader', async () => {
  const carrier = carry(order, 1)
  await reaches('RUNNING')
  dropped.abort()
  await carrier.done
  dropped = new AbortController()
  await takeOver()
  await cancelJob(it.domain, it.admin, { jobId: id })
  await carry(await runOf(2), 2).done
  expect(await stateOf()).toBe('CANCELLED')
  expect(forgotten).toMatchObject([{ state: 'ended', stopped: true }])
})

test('a replaced leader no longer reads runs to start or stop', async () => {
  expect(await readRunsDue(database.db.sql, leaderOf(1))).toHaveLength(1)
  await takeOver()
  expect(await readRunsDue(database.db.sql, leaderOf(1))).toEqual([])
  expect(await readHoldingRuns(database.db.sql, leaderOf(1))).toEqual([])
  expect(await readRunsDue(database.db.sql, leaderOf(2))).toHaveLength(1)
})

test('inspect is retried if the backend is unreachable right after a start, and the run does not fail', async () => {
  let failures = 0
  const shy: Executor = {
    ...bindVerbs(executor),
    async inspect(handles) {
      if (failures++ === 0) throw new Error('The backend does not answer')
      return executor.inspect(handles)
    },
  }
  carry(order, 1, { executor: shy })
  await reaches('RUNNING')
  expect(failures).toBeGreaterThan(1)
})
