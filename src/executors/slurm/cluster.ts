import type { Log } from '../../platform/log.ts'
import { type AccountRules, describeSeparation } from '../accounts/account.ts'
import type { BackendNode, ExecutorDescription } from '../executor.ts'
import { nodesFormat, parseGpuTypes, parseMinutes, parseNodes } from './capacity.ts'
import { type Slurm, SlurmAway, SlurmRefused } from './commands.ts'
import { type Layout, SharedDirTrouble } from './layout.ts'
import { optionRules } from './options.ts'
import { directoryOf, readRecords } from './run-files.ts'
import type { Queue } from './squeue.ts'
import { jobPhaseOf } from './state-tables.ts'

/** The cluster as a whole: its nodes, the limits of its partitions, its version. */

export interface Cluster {
  capacity(): Promise<readonly BackendNode[]>
  describe(): Promise<ExecutorDescription>
  /** The longest time of a partition; null: it has no limit, or it is not known yet. */
  minutesMax(partition: string): number | null
  /** Of the nodes of a partition, or of several with commas, as they were last told; null: not yet. */
  gpuTypes(partition: string): readonly string[] | null
}

interface ClusterOptions {
  slurm: Slurm
  queue: Queue
  layout: Layout
  /** Partition of each submission queue of the pool; empty: all partitions are of the pool. */
  queues: Readonly<Record<string, string>>
  accounts: AccountRules
  log: Log
}

const answerMsMax = 15_000

export async function createCluster(options: ClusterOptions): Promise<Cluster> {
  const { slurm, queue, layout, queues, accounts, log } = options
  const partitions = [...new Set(Object.values(queues))]
  const limits = new Map<string, number | null>()
  let gpuTypes: ReadonlyMap<string, readonly string[]> | null = null
  const sinfo = (args: readonly string[]) => slurm({ command: 'sinfo', args, timeoutMs: answerMsMax })
  const ofPartitions = partitions.length > 0 ? [`--partition=${partitions.join(',')}`] : []

  async function readLimits(): Promise<void> {
    const lines = (await sinfo(['--noheader', '--format=%R %l'])).trim().split('\n')
    for (const line of lines) {
      const [name = '', limit = ''] = line.split(' ')
      limits.set(name, parseMinutes(limit))
    }
  }

  const secondsMaxOfQueues = () =>
    Object.fromEntries(
      Object.entries(queues).flatMap(([name, partition]) => {
        const minutes = limits.get(partition) ?? null
        return minutes === null ? [] : [[name, minutes * 60]]
      }),
    )

  /** Jobs of this pool: their runs have a directory here. */
  async function ownJobs() {
    const found = await queue.look([])
    const running = [...(found?.byRun ?? [])].flatMap(([, jobs]) =>
      jobs.filter(({ state }) => jobPhaseOf(state) === 'runs'),
    )
    const isOwn = await Promise.all(
      running.map(async ({ runId }) => {
        const files = directoryOf(layout, runId)
        return files !== null && (await readRecords(files)) !== null
      }),
    )
    return running.filter((_, at) => isOwn[at])
  }

  async function describe(): Promise<ExecutorDescription> {
    try {
      const version = (await sinfo(['--version'])).trim().split(' ').at(-1) ?? null
      await readLimits()
      const missing = partitions.filter((name) => !limits.has(name))
      await layout.demandWritable()
      const remarks = [missing.length > 0 ? noPartitions(missing) : null, describeSeparation(accounts)]
      const message = remarks.filter((remark) => remark !== null).join('. ') || null
      return { version, available: true, message, ...optionRules, secondsMax: secondsMaxOfQueues() }
    } catch (error) {
      const unavailable = { version: null, available: false, ...optionRules }
      if (error instanceof SharedDirTrouble) return { ...unavailable, message: error.message }
      if (!(error instanceof SlurmAway || error instanceof SlurmRefused)) throw error
      return { ...unavailable, message: `Slurm does not answer: ${error.message}` }
    }
  }

  await readLimits().catch((err) =>
    log.warn({ err }, 'Slurm does not answer; the limits of its partitions are not known'),
  )

  return {
    async capacity() {
      await layout.demandWritable()
      const [text, ours] = await Promise.all([
        sinfo(['--noheader', '--Node', ...ofPartitions, `--Format=${nodesFormat}`]),
        ownJobs(),
      ])
      gpuTypes = parseGpuTypes(text)
      return parseNodes(text, ours, log)
    },
    describe,
    gpuTypes: (partition) =>
      gpuTypes && [...new Set(partition.split(',').flatMap((name) => gpuTypes?.get(name) ?? []))],
    minutesMax: (partition) => limits.get(partition) ?? null,
  }
}

const noPartitions = (names: readonly string[]) =>
  `Slurm has no partition ${names.join(', ')}: set native.partition of the queues that lead to this pool`
