import type { Domain } from '../domain/domain.ts'
import { ignoreFenced, type Leader, runAsLeader } from '../domain/leadership.ts'
import { mergeSamples, type RunSample, saveSamples } from '../domain/usage/run-samples.ts'
import type { Executor, Sample, SampledRun } from '../executors/executor.ts'

/**
 * Samples the running runs of the pool, with one call per executor and one statement for all runs. The growth of the
 * processor time between two samples gives the cores in use, so the first sample of a run has none.
 */

export interface RunToSample extends SampledRun {
  runId: string
  executor: Executor
}

interface Measured {
  cpuSeconds: number
  atMs: number
}

const mergeEveryMs = 60_000
/** Maximum runs per statement, because an outage may leave an hour of samples of each run to merge. */
const runsPerMerge = 100

export function createRunSampler(
  { domain, leader }: { domain: Domain; leader: Leader },
  listRuns: () => readonly RunToSample[],
): () => Promise<void> {
  const { clock, log } = domain
  let last: ReadonlyMap<string, Measured> = new Map()
  const failing = new Set<string>()
  let mergedMs = Number.NEGATIVE_INFINITY

  /** Logs the first failure of an executor in a row: other parts report that its backend is unreachable. */
  async function sampleOrLog(
    executor: Executor,
    runs: readonly RunToSample[],
    next: Map<string, Measured>,
  ): Promise<RunSample[]> {
    try {
      const samples = await sample(executor, runs, next)
      failing.delete(executor.name)
      return samples
    } catch (err) {
      const level = failing.has(executor.name) ? 'debug' : 'warn'
      failing.add(executor.name)
      log[level]({ err, pool: leader.pool, executor: executor.name }, 'runs cannot be sampled')
      return []
    }
  }

  async function sample(executor: Executor, runs: readonly RunToSample[], next: Map<string, Measured>) {
    const samples = (await executor.sample?.(runs)) ?? []
    const atMs = clock.monotonicMs()
    return runs.flatMap(({ runId }, index): RunSample[] => {
      const sample = samples[index] ?? {}
      if (sample.cpuSeconds !== undefined) next.set(runId, { cpuSeconds: sample.cpuSeconds, atMs })
      const { memoryBytes = null, gpuPercent = null, gpuMemoryBytes = null } = sample
      const cpuCores = computeCores(runId, sample, atMs)
      if ([cpuCores, memoryBytes, gpuPercent, gpuMemoryBytes].every((value) => value === null)) return []
      return [{ runId, cpuCores, memoryBytes, gpuPercent, gpuMemoryBytes }]
    })
  }

  function computeCores(runId: string, { cpuSeconds, cpuCores }: Sample, atMs: number): number | null {
    const before = last.get(runId)
    if (cpuSeconds === undefined || before === undefined || atMs <= before.atMs) return cpuCores ?? null
    return (Math.max(0, cpuSeconds - before.cpuSeconds) * 1_000) / (atMs - before.atMs)
  }

  async function save(samples: readonly RunSample[]): Promise<void> {
    const nowMs = clock.monotonicMs()
    await runAsLeader(domain, leader, (sql) => saveSamples(sql, samples))
    if (nowMs - mergedMs < mergeEveryMs) return
    mergedMs = nowMs
    const runIds = samples.map(({ runId }) => runId)
    for (let at = 0; at < runIds.length; at += runsPerMerge)
      await runAsLeader(domain, leader, (sql) => mergeSamples(sql, runIds.slice(at, at + runsPerMerge)))
  }

  return async () => {
    const next = new Map<string, Measured>()
    const groups = [...Map.groupBy(listRuns(), ({ executor }) => executor)]
    const rows = await Promise.all(groups.map(([executor, runs]) => sampleOrLog(executor, runs, next)))
    last = next
    const samples = rows.flat()
    if (samples.length > 0) await ignoreFenced(save(samples))
  }
}
