import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { cancelJob } from '../../src/domain/control/cancel.ts'
import type { Executor } from '../../src/executors/executor.ts'
import { createLocalExecutor } from '../../src/executors/local/local.ts'
import { createSimulatedExecutor } from '../../src/executors/simulated/simulated.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createLog } from '../../src/platform/log.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { makeRun } from '../executors/runs.ts'
import { machineTime } from '../support/clock.ts'
import { openTestDomainForEach } from '../support/domain.ts'
import { bindVerbs } from '../support/executor-verbs.ts'
import { startScheduler } from '../support/leader.ts'
import { recordLines } from '../support/recorded-lines.ts'
import { until } from '../support/until.ts'

/** A leader dies between the start of a run and the storing of its handle, and the job is cancelled meanwhile. */
const log = createLog('silent')
const create = {
  simulated: (dataDir: string) => createSimulatedExecutor({ dataDir, clock: systemClock, time: machineTime, log }),
  local: (spoolDir: string) =>
    createLocalExecutor({ spoolDir, environment: process.env, clock: systemClock, time: machineTime, log }),
}

describe.each(['simulated', 'local'] as const)('a new leader with the executor %s', (name) => {
  const { it, sql } = openTestDomainForEach({ pool: { executors: [name] } })
  let dataDir: string
  let executor: Executor
  const schedulers: Scheduler[] = []

  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'berth-found-'))
    executor = await create[name](dataDir)
  })
  afterEach(async () => {
    for (const scheduler of schedulers.splice(0)) await scheduler.stop()
    await executor.close()
    await rm(dataDir, { recursive: true })
  })

  function lead(holder: string, using: Executor): Scheduler {
    const scheduler = startScheduler(it.domain, { [name]: using }, { holder })
    schedulers.push(scheduler)
    return scheduler
  }

  /** Leads until the start is requested, and dies. `starts`: whether the run starts before the death. */
  async function dieStarting(id: string, starts: 'before' | 'after'): Promise<void> {
    const asked = Promise.withResolvers<void>()
    const death = Promise.withResolvers<never>()
    const first = lead('a', {
      ...bindVerbs(executor),
      async start(run) {
        if (starts === 'before') await executor.start(run)
        asked.resolve()
        return death.promise
      },
    })
    await asked.promise
    await cancelJob(it.domain, it.admin, { jobId: id })
    const stopped = first.stop()
    death.reject(new Error('The leader died'))
    await stopped
  }

  const submit = () =>
    it.submit({
      command: ['/bin/sh', '-c', 'echo $$ > "$0"; exec sleep 600', join(dataDir, 'pid')],
      environment: [{ name: 'SIM_RUN_SECONDS', value: '600' }],
    })
  const toFacts = async (id: string) =>
    (
      await sql<{ state: string; info: string; handle: string | null }>(
        `SELECT j.state, j.state_info AS info, r.handle FROM job j JOIN run r ON r.job_id = j.id WHERE j.id = $1`,
        [id],
      )
    )[0]
  const isCancelled = (id: string) =>
    until(async () => (await toFacts(id))?.state === 'CANCELLED', { what: 'it is cancelled' })

  test('deletes a finished run that the previous leader did not delete before it died', async () => {
    const asked = Promise.withResolvers<void>()
    const first = lead('a', { ...bindVerbs(executor), forget: async () => asked.resolve() })
    const id = await it.submit({ command: ['true'] })
    await asked.promise
    expect(await toFacts(id)).toMatchObject({ state: 'SUCCEEDED' })
    await first.stop()
    expect(await executor.list?.()).toHaveLength(1)
    lead('b', executor)
    await until(async () => (await executor.list?.())?.length === 0, { what: 'it was removed' })
  })

  test('finds and stops a cancelled run whose start was not recorded', async () => {
    const id = await submit()
    await dieStarting(id, 'before')
    expect(await toFacts(id)).toMatchObject({ state: 'CANCELLING', handle: null })
    if (name === 'local') await until(() => readPid().catch(() => null), { what: 'the command began' })
    lead('b', executor)
    await isCancelled(id)
    expect(await toFacts(id)).toMatchObject({ info: 'Signal 15 ended it', handle: expect.any(String) })
    if (name === 'local') expect(isAlive(await readPid())).toBe(false)
  })

  test('never starts a cancelled run that had not begun', async () => {
    const id = await submit()
    await dieStarting(id, 'after')
    lead('b', executor)
    await isCancelled(id)
    expect(await toFacts(id)).toMatchObject({ info: 'Cancelled before it was started', handle: null })
    if (name === 'local') await expect(readPid()).rejects.toThrow('ENOENT')
  })

  test('logs a run that is not in the database, and does not end it', async () => {
    const run = makeRun({ command: ['sleep', '60'], environment: [{ name: 'SIM_RUN_SECONDS', value: '60' }] })
    const handle = await executor.start(run)
    const { lines, destination } = recordLines()
    const domain = { ...it.domain, log: createLog('warn', { destination }) }
    schedulers.push(startScheduler(domain, { [name]: executor }))
    await until(() => lines.some(({ runs }) => String(runs) === run.runId), { what: 'it is named' })
    expect(await executor.inspect([handle])).toEqual([expect.objectContaining({ state: 'running' })])
    await executor.stop(handle, 0)
  })

  const readPid = async () => Number(await readFile(join(dataDir, 'pid'), 'utf8'))
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
