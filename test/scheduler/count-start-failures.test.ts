import { readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Fenced } from '../../src/domain/leadership.ts'
import { computeBackOffSeconds, countStartFailure } from '../../src/domain/machines/node-back-off.ts'
import { explainWaiting } from '../../src/domain/queue/why-waiting.ts'
import { findViolations } from '../../src/domain/selfcheck/selfcheck.ts'
import type { Executor } from '../../src/executors/executor.ts'
import { createLocalExecutor } from '../../src/executors/local/local.ts'
import { createSimulatedExecutor } from '../../src/executors/simulated/simulated.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createLog } from '../../src/platform/log.ts'
import { createNodeWatch } from '../../src/scheduler/node-liveness.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { openDatabaseForEach } from '../support/database.ts'
import { makeDirectory } from '../support/directory.ts'
import { createTestDomainOver, simNode, type TestDomain } from '../support/domain.ts'
import { createLeader, startScheduler } from '../support/leader.ts'
import { recordLines } from '../support/recorded-lines.ts'
import { until } from '../support/until.ts'

const log = createLog('silent')

const database = openDatabaseForEach()
let it: TestDomain
let dataDir: string
let executor: Executor | undefined
let scheduler: Scheduler | undefined

beforeEach(async () => {
  dataDir = makeDirectory()
})
afterEach(async () => {
  await scheduler?.stop()
  scheduler = undefined
  expect(await findViolations(database.db.sql)).toEqual([])
  await executor?.close()
  executor = undefined
  await it[Symbol.asyncDispose]()
})

const sql = <Row>(text: string, values: unknown[] = []) => database.db.sql.query<Row>(text, values)

async function pass(ms: number): Promise<void> {
  await database.moveTime(ms)
  it.domain.wakeups.poke('queue')
}

interface NodeRow {
  name: string
  state: string
  failures: number
  backsOff: boolean
  seen: boolean
}

const nodes = () =>
  sql<NodeRow>(
    `SELECT name, state::text, start_failures AS failures, coalesce(backs_off_until > berth_now(), false) AS "backsOff",
       coalesce(last_seen_at > berth_now() - interval '11 s', false) AS seen FROM node ORDER BY name`,
  )

describe('a node that cannot start runs', () => {
  test('backs off without failing jobs, gets one probe run after each wait, and gets all runs when it works again', async () => {
    it = await createTestDomainOver(database.db, { pool: { executors: ['local'] } })
    executor = await createLocalExecutor({
      spoolDir: dataDir,
      environment: process.env,
      clock: systemClock,
      time: it.time,
      log,
    })
    const tries = countStarts(executor)
    const runs = join(dataDir, 'runs')
    const small = { command: ['true'], resources: { cpu: 0.1, memoryBytes: 2 ** 26 } }
    const { lines, destination } = recordLines()
    scheduler = startScheduler({ ...it.domain, log: createLog('warn', { destination }) }, { local: executor })
    const waiting = () => sql<{ n: number }>("SELECT count(*)::int AS n FROM job WHERE state <> 'SUCCEEDED'")
    await it.submit(small)
    await until(async () => (await waiting())[0]?.n === 0, { what: 'the runner runs jobs' })
    // A run of its first second counts as a run of an earlier leader, which waits for the folder in its start.
    await pass(3_000)
    await rename(runs, `${runs}.away`)
    await writeFile(runs, 'no folder')
    const ids = await Promise.all(Array.from({ length: 40 }, () => it.submit(small)))
    await until(async () => (await nodes())[0]?.backsOff, { what: 'the node backs off' })
    const [anyJob = ''] = ids
    const messageOfNode = async () => {
      const reason = (await explainWaiting(it.domain, [anyJob])).get(anyJob)?.reasons[0]
      return reason?.code === 'NODE_BACKS_OFF' && reason.message
    }
    expect(await until(messageOfNode, { what: 'the reason is shown' })).toMatch(
      /^Node n1 could not start a run and is not used before .*: a folder of its spool is missing, or something else is in its place: move that away; the log of the server names it$/,
    )
    expect(lines.filter(({ msg }) => /start/.test(String(msg)))).toMatchObject([
      { node: 'n1', because: expect.stringContaining('move that away'), cause: expect.stringContaining('ENOTDIR') },
    ])
    const failed = () => sql<{ n: number }>("SELECT count(*)::int AS n FROM job WHERE state = 'FAILED'")
    const probed = (failures: number) => async () => (await nodes())[0]?.failures === failures && tries.count
    const first = await until(probed(2), { what: 'the node was tried again' })
    await pass(2_000)
    expect(await until(probed(3), { what: 'and once more' })).toBe(first + 1)
    expect(await failed()).toEqual([{ n: 0 }])
    await rm(runs)
    await rename(`${runs}.away`, runs)
    await pass(4_000)
    await until(async () => (await waiting())[0]?.n === 0, { what: 'all have run' })
    expect(await nodes()).toMatchObject([{ failures: 0, backsOff: false }])
    await until(async () => (await readdir(runs)).length === 0, { what: 'no folder is left' })
  })
})

function countStarts(executor: Executor): { count: number } {
  const tries = { count: 0 }
  const start = executor.start.bind(executor)
  executor.start = (...args) => {
    tries.count++
    return start(...args)
  }
  return tries
}

describe('the back-off of a node', () => {
  test('doubles up to five minutes, and begins with the third failure if the node may not be the cause', () => {
    const of = (isNodes: boolean) => Array.from({ length: 12 }, (_, i) => computeBackOffSeconds(i + 1, isNodes))
    expect(of(true)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300])
    expect(of(false)).toEqual([0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300])
  })

  test('grows once for failures of concurrent starts', async () => {
    it = await createTestDomainOver(database.db)
    await createLeader(it.domain, 'sim').then(({ tick }) =>
      it
        .submit()
        .then(() => it.submit())
        .then(tick),
    )
    const runs = await sql<{ id: string }>("SELECT id FROM run WHERE state = 'STARTING'")
    expect(runs).toHaveLength(2)
    for (const { id: runId } of runs)
      await countStartFailure(database.db.sql, 'sim', { runId, isNodes: true, message: 'no space' })
    expect(await nodes()).toMatchObject([{ failures: 1, backsOff: true }])
    await database.moveTime(1_001)
    for (const { id: runId } of runs)
      await countStartFailure(database.db.sql, 'sim', { runId, isNodes: true, message: 'no space' })
    expect(await nodes()).toMatchObject([{ failures: 2, backsOff: true }])
  })
})

test('an unreachable node without runs becomes LOST after the timeout, and READY when it responds', async () => {
  it = await createTestDomainOver(database.db, { nodes: ['n1', 'n2'].map((name) => ({ ...simNode, name })) })
  executor = await createSimulatedExecutor({ dataDir, clock: systemClock, time: it.time, log })
  const leader = await createLeader(it.domain, 'sim')
  const watched = { domain: it.domain, leader, nodeLostAfterMs: 60_000 }
  const watch = createNodeWatch(watched, new Map([['simulated', executor]]))
  const after = async (ms: number) => {
    await database.moveTime(ms)
    await it.time.look()
    await watch()
    return (await nodes()).map(({ state, seen }) => [state, seen])
  }
  await writeFile(join(dataDir, 'sim-silent'), 'n1')
  expect(await after(0)).toEqual([
    ['READY', false],
    ['READY', true],
  ])
  expect(await after(59_000)).toEqual([
    ['READY', false],
    ['READY', true],
  ])
  expect(await after(2_000)).toEqual([
    ['LOST', false],
    ['READY', true],
  ])
  await rm(join(dataDir, 'sim-silent'))
  expect(await after(12_000)).toEqual([
    ['READY', true],
    ['READY', true],
  ])
})

test('a leader that was replaced does not record that its nodes responded', async () => {
  it = await createTestDomainOver(database.db)
  executor = await createSimulatedExecutor({ dataDir, clock: systemClock, time: it.time, log })
  const leader = await createLeader(it.domain, 'sim')
  const watched = { domain: it.domain, leader, nodeLostAfterMs: 60_000 }
  const watch = createNodeWatch(watched, new Map([['simulated', executor]]))
  await sql('UPDATE scheduler_leader SET epoch = epoch + 1')
  await expect(watch()).rejects.toThrow(Fenced)
  expect(await nodes()).toMatchObject([{ seen: false }])
})
