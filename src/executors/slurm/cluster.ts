import type { Log } from '../../platform/log.ts'
import { type AccountRules, describeSeparation } from '../accounts/account.ts'
import { isBackendError } from '../backend/unreachable.ts'
import type { BackendNode, ExecutorDescription } from '../executor.ts'
import { nodesFormat, parseGpuTypes, parseMinutes, parseNodes } from './capacity.ts'
import type { Slurm } from './commands.ts'
import { type Layout, SharedDirTrouble } from './layout.ts'
import { optionRules } from './options.ts'
import { findRunDirectory, readRecords } from './run-files.ts'
import type { Queue } from './squeue.ts'
import type { SlurmJob } from './squeue-output.ts'
import { getJobPhase } from './state-tables.ts'

interface ClusterOptions {
  slurm: Slurm
  queue: Pick<Queue, 'read'>
  layout: Layout
  /** The partition of each submission queue of the pool; empty: the pool uses all partitions. */
  queues: Readonly<Record<string, string>>
  accounts: AccountRules
  log: Log
}

const answerMsMax = 15_000

/** Reads the nodes of the cluster, the limits of its partitions, and its version. */
export class Cluster {
  readonly #options: ClusterOptions
  readonly #partitions: readonly string[]
  readonly #limits = new Map<string, number | null>()
  #gpuTypes: ReadonlyMap<string, readonly string[]> | null = null

  constructor(options: ClusterOptions) {
    this.#options = options
    this.#partitions = [...new Set(Object.values(options.queues))]
  }

  async readLimits(): Promise<void> {
    const lines = (await this.#sinfo(['--noheader', '--format=%R %l'])).trim().split('\n')
    for (const line of lines) {
      const [name = '', limit = ''] = line.split(' ')
      this.#limits.set(name, parseMinutes(limit))
    }
  }

  minutesMax(partition: string): number | null {
    return this.#limits.get(partition) ?? null
  }

  /**
   * Returns the GPU types on the nodes of a partition (or of several, separated by commas), as last reported; null: not
   * reported yet.
   */
  gpuTypes(partition: string): readonly string[] | null {
    const types = this.#gpuTypes
    return types && [...new Set(partition.split(',').flatMap((name) => types.get(name) ?? []))]
  }

  async capacity(): Promise<readonly BackendNode[]> {
    const partitions = this.#partitions.length > 0 ? [`--partition=${this.#partitions.join(',')}`] : []
    await this.#options.layout.checkWritable()
    const [text, ours] = await Promise.all([
      this.#sinfo(['--noheader', '--Node', ...partitions, `--Format=${nodesFormat}`]),
      this.#findOwnJobs(),
    ])
    this.#gpuTypes = parseGpuTypes(text)
    return parseNodes(text, ours, this.#options.log)
  }

  async describe(): Promise<ExecutorDescription> {
    const { layout, accounts } = this.#options
    try {
      const version = (await this.#sinfo(['--version'])).trim().split(' ').at(-1) ?? null
      await this.readLimits()
      const missing = this.#partitions.filter((name) => !this.#limits.has(name))
      await layout.checkWritable()
      const remarks = [missing.length > 0 ? explainMissing(missing) : null, describeSeparation(accounts)]
      const message = remarks.filter((remark) => remark !== null).join('. ') || null
      return { version, available: true, message, ...optionRules, secondsMax: this.#secondsMaxByQueue() }
    } catch (error) {
      const unavailable = { version: null, available: false, ...optionRules }
      if (error instanceof SharedDirTrouble) return { ...unavailable, message: error.message }
      if (!isBackendError(error)) throw error
      return { ...unavailable, message: `Slurm unreachable: ${error.message}` }
    }
  }

  #sinfo(args: readonly string[]): Promise<string> {
    return this.#options.slurm({ command: 'sinfo', args, timeoutMs: answerMsMax })
  }

  #secondsMaxByQueue(): Record<string, number> {
    return Object.fromEntries(
      Object.entries(this.#options.queues).flatMap(([name, partition]) => {
        const minutes = this.minutesMax(partition)
        return minutes === null ? [] : [[name, minutes * 60]]
      }),
    )
  }

  async #findOwnJobs(): Promise<readonly SlurmJob[]> {
    const { queue, layout } = this.#options
    const found = await queue.read([])
    const running = [...(found?.byRun.values() ?? [])].flat().filter(({ state }) => getJobPhase(state) === 'runs')
    const isOwn = await Promise.all(
      running.map(async ({ runId }) => {
        const files = findRunDirectory(layout, runId)
        return files !== null && (await readRecords(files)) !== null
      }),
    )
    return running.filter((_, at) => isOwn[at])
  }
}

const explainMissing = (names: readonly string[]) =>
  `Slurm has no partition ${names.join(', ')}: set native.partition of the queues that lead to this pool`
