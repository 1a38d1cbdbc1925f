import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sampleSeconds } from '../../src/domain/usage/run-samples.ts'
import type { Executor, Sample } from '../../src/executors/executor.ts'
import { createSimulatedExecutor } from '../../src/executors/simulated/simulated.ts'
import { type Clock, systemClock } from '../../src/platform/clock.ts'
import { createRunSampler, type RunToSample } from '../../src/scheduler/run-sampler.ts'
import { openTestDomain } from '../support/domain.ts'
import { addJob } from '../support/factories.ts'
import { createLeader, startScheduler } from '../support/leader.ts'
import { readRunSamples } from '../support/samples.ts'
import { until } from '../support/until.ts'

/** Waits a tenth of a second for the next sample. */
const clock: Clock = {
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep(ms === sampleSeconds * 1_000 ? 100 : ms, signal),
}
const { database, it } = await openTestDomain({ clock })
const { sql } = database.db

/** An executor that only implements samples. */
const sampling = (name: string, sample?: Executor['sample']): Executor => ({ name, sample }) as Executor

async function addRun(executor: Executor): Promise<RunToSample> {
  const { runId } = await addJob(sql, it.admin.userId)
  return { runId, executor, handle: `handle of ${runId}`, gpuIds: [] }
}

test('running runs are sampled while a scheduler leads, and the usage of their pool is measured', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'berth-sampler-'))
  const simulated = await createSimulatedExecutor({ dataDir, clock, time: it.time, log: it.domain.log })
  const scheduler = startScheduler(it.domain, { simulated })
  const jobId = await it.submit({ environment: [{ name: 'SIM_RUN_SECONDS', value: '3600' }] })
  const [run] = await sql.query<{ id: string }>('SELECT id FROM run WHERE job_id = $1', [jobId])
  const samples = await until(
    async () => {
      const all = await readRunSamples(sql, run?.id ?? '', 10)
      return all.length > 1 && all
    },
    { what: 'the run has two samples' },
  )
  expect(samples.slice(0, 2)).toMatchObject([
    { cpuCores: null, memoryBytes: 0, gpuPercent: null, gpuMemoryBytes: null },
    { cpuCores: 0, memoryBytes: 0 },
  ])
  expect(await sql.query("SELECT cpu_seconds FROM pool_period WHERE pool = 'sim'")).toEqual([{ cpu_seconds: 960 }])
  await scheduler.stop()
  await simulated.close()
  await rm(dataDir, { recursive: true })
  await sql.query('DELETE FROM scheduler_leader')
  await sql.query('DELETE FROM scheduler_lease')
})

test('the number of cores is computed from the growth of the processor time, or reported by the backend', async () => {
  let nowMs = 0
  const leader = await createLeader(it.domain, 'sim')
  const answers: Sample[][] = [
    [{ cpuSeconds: 5 }, { cpuCores: 0.5 }, {}],
    [{ cpuSeconds: 25, gpuPercent: 50 }, { cpuCores: 1.5 }, { memoryBytes: 7 }],
    [{ cpuSeconds: 24 }, {}, {}],
  ]
  const calls: string[][] = []
  const counting = sampling('counting', async (runs) => {
    calls.push(runs.map(({ handle }) => handle))
    return answers[calls.length - 1] ?? []
  })
  const failing = sampling('failing', async () => {
    throw new Error('The backend is down')
  })
  const runs = [await addRun(counting), await addRun(failing), await addRun(counting), await addRun(counting)]
  runs.push(await addRun(sampling('without samples')))
  const domain = { ...it.domain, clock: { ...clock, monotonicMs: () => nowMs } }
  const sampleAll = createRunSampler({ domain, leader }, () => runs)
  for (let n = 0; n < 3; n++) {
    await sampleAll()
    nowMs += 10_000
    await database.moveTime(10_000)
  }
  expect(calls).toHaveLength(3)
  expect(calls[0]).toEqual([runs[0], runs[2], runs[3]].map((run) => run?.handle))
  const cores = async (run: RunToSample | undefined) =>
    (await readRunSamples(sql, run?.runId ?? '', 10)).map(({ cpuCores, memoryBytes }) => cpuCores ?? memoryBytes)
  // The third processor time is lower, because the time of a child that ended is not included any more.
  expect(await Promise.all(runs.map(cores))).toEqual([[2, 0], [], [0.5, 1.5], [7], []])

  await sql.query('UPDATE scheduler_leader SET epoch = epoch + 1')
  answers.push([{ cpuSeconds: 30 }, { cpuCores: 9 }, {}])
  await sampleAll()
  expect(await cores(runs[2])).toEqual([0.5, 1.5])
})
