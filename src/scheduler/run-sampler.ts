import type { Domain } from '../domain/domain.ts'
import { asLeader, Fenced, type Leader } from '../domain/leadership.ts'
import { mergeSamples, type RunSample, sampleSeconds, saveSamples } from '../domain/usage/run-samples.ts'
import type { Executor, Sample, SampledRun } from '../executors/executor.ts'
import { createLoop, type Loop } from '../platform/loop.ts'

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

export class RunSampler {
  readonly #carrying: Sampling
  readonly #listRuns: () => readonly RunToSample[]
  /** The last processor time of each run. */
  #last: ReadonlyMap<string, Measured> = new Map()
  #mergedMs = Number.NEGATIVE_INFINITY

  constructor(carrying: Sampling, listRuns: () => readonly RunToSample[]) {
    this.#carrying = carrying
    this.#listRuns = listRuns
  }

  createLoop(): Loop {
    const { domain, leader } = this.#carrying
    return createLoop({
      name: `samples ${leader.pool}`,
      pollMs: sampleSeconds * 1_000,
      runOnce: () => this.sampleAll(),
      clock: domain.clock,
      log: domain.log,
    })
  }

  async sampleAll(): Promise<void> {
    const { domain, leader } = this.#carrying
    const runs = this.#listRuns()
    const next = new Map<string, Measured>()
    const rows = await Promise.all(
      [...Map.groupBy(runs, ({ executor }) => executor)].map(([executor, group]) =>
        this.#sample(executor, group, next).catch((err: unknown): RunSample[] => {
          domain.log.warn({ err, pool: leader.pool, executor: executor.name }, 'runs cannot be sampled')
          return []
        }),
      ),
    )
    this.#last = next
    await this.#save(rows.flat())
  }

  async #sample(executor: Executor, runs: readonly RunToSample[], next: Map<string, Measured>): Promise<RunSample[]> {
    const samples = (await executor.sample?.(runs)) ?? []
    const atMs = this.#carrying.domain.clock.monotonicMs()
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
    const { domain, leader } = this.#carrying
    const nowMs = domain.clock.monotonicMs()
    const merges = nowMs - this.#mergedMs >= mergeEveryMs
    await asLeader(domain, leader, async (sql) => {
      await saveSamples(sql, samples)
      if (merges)
        await mergeSamples(
          sql,
          samples.map(({ runId }) => runId),
        )
    }).catch((error: unknown) => {
      // The process is no longer the leader; its runner ends soon.
      if (!(error instanceof Fenced)) throw error
    })
    if (merges) this.#mergedMs = nowMs
  }
}
