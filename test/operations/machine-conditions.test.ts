import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createPoolReporter } from '../../src/backends.ts'
import { type EngineReport, reportPool } from '../../src/domain/machines/pool-report.ts'
import { createLocalExecutor } from '../../src/executors/local/local.ts'
import { createSimulatedExecutor } from '../../src/executors/simulated/simulated.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createLog } from '../../src/platform/log.ts'
import { createNodeWatch } from '../../src/scheduler/node-liveness.ts'
import { listenAsEngine, openOverEngine } from '../executors/container/fake-engine.ts'
import { createConditionWorld, watchConditions } from '../support/conditions.ts'
import { makeDirectory } from '../support/directory.ts'
import { createTestDomain } from '../support/domain.ts'
import { createLeader, startScheduler } from '../support/leader.ts'
import { until } from '../support/until.ts'

/** Each test causes a condition by its fault, and then ends the fault. */

const directory = makeDirectory()
const log = createLog('silent')

test('NODE_LOST: begins when a node has been unreachable for more than a minute, and ends when it responds', async () => {
  await using world = await createTestDomain()
  const { database, it } = world
  const executor = await createSimulatedExecutor({ dataDir: directory, clock: systemClock, time: it.time, log })
  const leader = await createLeader(it.domain, 'sim')
  const watched = { domain: it.domain, leader, nodeLostAfterMs: 60_000 }
  const watchNodes = createNodeWatch(watched, new Map([['simulated', executor]]))
  const beforeLook = async () => {
    await it.time.look()
    await watchNodes()
  }
  const conditions = watchConditions({ domain: it.domain, database, beforeLook })
  await writeFile(join(directory, 'sim-silent'), 'n1')
  await conditions.look()
  expect(await conditions.find('NODE_LOST')).toBeUndefined()
  expect(await conditions.begins('NODE_LOST')).toMatchObject({
    severity: 'TICKET',
    evidence: [expect.stringMatching(/^node n1 of pool sim, since \d{4}-/)],
  })
  await rm(join(directory, 'sim-silent'))
  await conditions.ends('NODE_LOST')
  await executor.close()
})

test('NODE_BACKS_OFF: begins when starts fail because the spool of a node cannot be written, and ends after a start', async () => {
  await using world = await createTestDomain({ pool: { executors: ['local'] } })
  const { database, it } = world
  const spoolDir = join(directory, 'local')
  const executor = await createLocalExecutor({
    spoolDir,
    environment: process.env,
    clock: systemClock,
    time: it.time,
    log,
  })
  const isWaiting = async () => (await database.db.sql.query(`SELECT FROM job WHERE state <> 'SUCCEEDED'`)).length > 0
  const beforeLook = async () => it.domain.wakeups.poke('queue')
  const conditions = watchConditions({ domain: it.domain, database, beforeLook })
  const scheduler = startScheduler(it.domain, { local: executor })
  const runs = join(spoolDir, 'runs')
  await it.submit()
  await until(async () => !(await isWaiting()), { what: 'the first job has run' })
  await conditions.look()
  await rename(runs, `${runs}.away`)
  await writeFile(runs, 'no folder')
  await it.submit()
  const failures = (least: number) => async () =>
    (await database.db.sql.query('SELECT FROM node WHERE start_failures >= $1', [least])).length > 0
  for (const least of [1, 2, 3]) {
    await until(failures(least), { what: `${least} starts have failed` })
    await conditions.look()
  }
  expect(await conditions.find('NODE_BACKS_OFF')).toMatchObject({
    severity: 'TICKET',
    evidence: [expect.stringMatching(/^node n1 of pool sim: \d+ failed starts; .*a folder of its spool is missing/)],
  })
  await rm(runs)
  await rename(`${runs}.away`, runs)
  await conditions.look()
  await until(async () => !(await isWaiting()), { what: 'the second job has run' })
  await conditions.ends('NODE_BACKS_OFF')
  await scheduler.stop()
  await executor.close()
})

test('BACKEND_SILENT: begins when the container engine was stopped, and ends when it responds', async () => {
  await using world = await createConditionWorld({ pool: { executors: ['container'] } })
  const { it } = world
  await createLeader(it.domain, 'sim')
  const answer: Parameters<typeof listenAsEngine>[1] = (_request, response) =>
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ Version: '28.0', ApiVersion: '1.41' }))
  let engine = await listenAsEngine(directory, answer)
  const executor = await openOverEngine(directory, { image: 'i', clock: systemClock })
  const accounts = { hasUsers: false, jobsAsRoot: false, owners: [] }
  const report = createPoolReporter({
    domain: it.domain,
    pool: 'sim',
    executors: new Map([['container', executor]]),
    accounts,
  })
  await report()
  await world.look()
  expect(await world.find('BACKEND_SILENT')).toBeUndefined()
  await engine.close()
  await report()
  expect(await world.begins('BACKEND_SILENT')).toMatchObject({
    severity: 'PAGE',
    evidence: [expect.stringMatching(/^executor container of pool sim: /)],
  })
  engine = await listenAsEngine(directory, answer)
  await report()
  await world.ends('BACKEND_SILENT')
  await executor.close()
  await engine.close()
})

const machine: EngineReport = { engine: 'Docker 28.0', latencyMs: 3, silence: null, troubles: [] }

test('MACHINE_SILENT: begins when one of several machines does not respond, and ends when it responds', async () => {
  await using world = await createConditionWorld({ pool: { executors: ['container'] } })
  const { it } = world
  await createLeader(it.domain, 'sim')
  const container = { version: '28.0', available: true, message: null, unenforced: [] }
  const report = (change: Partial<EngineReport>) =>
    reportPool(it.domain, 'sim', {
      executors: { container: { ...container, machines: { gpu1: { ...machine, ...change } } } },
      unixUserRequired: false,
      reservedUnixUsers: [],
    })
  await report({})
  await world.look()
  expect(await world.find('MACHINE_SILENT')).toBeUndefined()
  await report({ silence: 'ssh to gpu1: No route to host' })
  expect(await world.begins('MACHINE_SILENT')).toMatchObject({
    severity: 'TICKET',
    evidence: ['node gpu1 of pool sim: ssh to gpu1: No route to host'],
  })
  await report({})
  await world.ends('MACHINE_SILENT')
})

test('MACHINE_TROUBLE: begins when a machine of a pool needs a repair, and ends after the repair', async () => {
  await using world = await createConditionWorld({ pool: { executors: ['container'] } })
  const { it } = world
  await createLeader(it.domain, 'sim')
  const container = { version: '28.0', available: true, message: null, unenforced: [] }
  const report = (change: Partial<EngineReport>) =>
    reportPool(it.domain, 'sim', {
      executors: { container: { ...container, machines: { gpu1: { ...machine, ...change } } } },
      unixUserRequired: false,
      reservedUnixUsers: [],
    })
  await report({})
  await world.look()
  expect(await world.find('MACHINE_TROUBLE')).toBeUndefined()
  await report({ troubles: ['9 % of the disk is free', 'Docker 19 is too old'] })
  expect(await world.begins('MACHINE_TROUBLE')).toMatchObject({
    severity: 'TICKET',
    evidence: ['node gpu1 of pool sim: 9 % of the disk is free', 'node gpu1 of pool sim: Docker 19 is too old'],
  })
  await report({})
  await world.ends('MACHINE_TROUBLE')
})

test('BACKEND_SILENT: begins for a missing engine only when a job waits for it', async () => {
  await using world = await createConditionWorld({ pool: { executors: ['simulated', 'container'] } })
  const { it } = world
  await createLeader(it.domain, 'sim')
  const container = { version: null, available: false, message: 'Container engine unreachable', unenforced: [] }
  await reportPool(it.domain, 'sim', { executors: { container }, unixUserRequired: false, reservedUnixUsers: [] })
  await world.look()
  await world.look()
  expect(await world.find('BACKEND_SILENT')).toBeUndefined()
  await it.submit({ executor: 'container', image: 'ubuntu' })
  expect(await world.begins('BACKEND_SILENT')).toMatchObject({
    evidence: ['executor container of pool sim: Container engine unreachable'],
  })
})
