import type { Domain } from '../domain/domain.ts'
import { asLeader, Fenced, type Leader } from '../domain/leadership.ts'
import { mergeSamples, type RunSample, sampleSeconds, saveSamples } from '../domain/usage/run-samples.ts'
import type { Executor, Sample, SampledRun } from '../executors/executor.ts'
import { createLoop, type Loop } from '../platform/loop.ts'
import type { Sql } from '../platform/tx.ts'

/**
 * Samples the running runs of the pool: one call per executor and one statement for all runs. The growth of the
 * processor time between two samples gives the cores in use, so the first sample of a run has none.
 */

export interface RunToSample extends SampledRun {
  runId: string
  executor: Executor
}

interface Sampling {
  domain: Domain
  leader: Leader
}

interface Measured {
  cpuSeconds: number
  atMs: number
}

const mergeEveryMs = 60_000
/** An outage may leave an hour of samples of each run to merge. */
const runsPerMerge = 100

export class RunSampler {
  readonly #sampling: Sampling
  readonly #listRuns: () => readonly RunToSample[]
  /** The last processor time of each run. */
  #last: ReadonlyMap<string, Measured> = new Map()
  /** Executors whose last call failed. */
  readonly #failing = new Set<string>()
  #mergedMs = Number.NEGATIVE_INFINITY

  constructor(sampling: Sampling, listRuns: () => readonly RunToSample[]) {
    this.#sampling = sampling
    this.#listRuns = listRuns
  }

  createLoop(): Loop {
    const { domain, leader } = this.#sampling
    return createLoop({
      name: `samples ${leader.pool}`,
      pollMs: sampleSeconds * 1_000,
      runOnce: () => this.sampleAll(),
      clock: domain.clock,
      log: domain.log,
    })
  }

  async sampleAll(): Promise<void> {
    const runs = this.#listRuns()
    const next = new Map<string, Measured>()
    const rows = await Promise.all(
      [...Map.groupBy(runs, ({ executor }) => executor)].map(([executor, group]) =>
        this.#sampleOrLog(executor, group, next),
      ),
    )
    this.#last = next
    await this.#save(rows.flat())
  }

  /** Logs the first failure of an executor in a row: other parts report that its backend is unreachable. */
  async #sampleOrLog(
    executor: Executor,
    runs: readonly RunToSample[],
    next: Map<string, Measured>,
  ): Promise<RunSample[]> {
    try {
      const samples = await this.#sample(executor, runs, next)
      this.#failing.delete(executor.name)
      return samples
    } catch (err) {
      const { domain, leader } = this.#sampling
      const level = this.#failing.has(executor.name) ? 'debug' : 'warn'
      this.#failing.add(executor.name)
      domain.log[level]({ err, pool: leader.pool, executor: executor.name }, 'runs cannot be sampled')
      return []
    }
  }

  async #sample(executor: Executor, runs: readonly RunToSample[], next: Map<string, Measured>): Promise<RunSample[]> {
    const samples = (await executor.sample?.(runs)) ?? []
    const atMs = this.#sampling.domain.clock.monotonicMs()
    return runs.flatMap(({ runId }, index): RunSample[] => {
      const sample = samples[index] ?? {}
      if (sample.cpuSeconds !== undefined) next.set(runId, { cpuSeconds: sample.cpuSeconds, atMs })
      const { memoryBytes = null, gpuPercent = null, gpuMemoryBytes = null } = sample
      const cpuCores = this.#computeCores(runId, sample, atMs)
      if ([cpuCores, memoryBytes, gpuPercent, gpuMemoryBytes].every((value) => value === null)) return []
      return [{ runId, cpuCores, memoryBytes, gpuPercent, gpuMemoryBytes }]
    })
  }

  #computeCores(runId: string, { cpuSeconds, cpuCores }: Sample, atMs: number): number | null {
    const last = this.#last.get(runId)
    if (cpuSeconds === undefined || last === undefined || atMs <= last.atMs) return cpuCores ?? null
    return (Math.max(0, cpuSeconds - last.cpuSeconds) * 1_000) / (atMs - last.atMs)
  }

  async #save(samples: readonly RunSample[]): Promise<void> {
    if (samples.length === 0) return
    const nowMs = this.#sampling.domain.clock.monotonicMs()
    try {
      await this.#asLeader((sql) => saveSamples(sql, samples))
      if (nowMs - this.#mergedMs < mergeEveryMs) return
      this.#mergedMs = nowMs
      const runIds = samples.map(({ runId }) => runId)
      for (let at = 0; at < runIds.length; at += runsPerMerge)
        await this.#asLeader((sql) => mergeSamples(sql, runIds.slice(at, at + runsPerMerge)))
    } catch (error) {
      // The process is no longer the leader; its runner ends soon.
      if (!(error instanceof Fenced)) throw error
    }
  }

  #asLeader(work: (sql: Sql) => Promise<void>): Promise<void> {
    const { domain, leader } = this.#sampling
    return asLeader(domain, leader, work)
  }
}
