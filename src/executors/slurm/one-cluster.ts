import { readlink, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../platform/clock.ts'
import { unlessMissing } from '../backend/file-errors.ts'
import { type Slurm, SlurmAway, SlurmRefused } from './commands.ts'
import { clusterName, type Layout, SharedDirTrouble } from './layout.ts'

/**
 * The commands of Slurm, as long as they reach the cluster that has the runs of the pool. Another one, after a change of
 * SLURM_CONF, answers as well: it says of every run that there is no such job, has other nodes, and other jobs under the
 * ids of these. So before a command the controller is asked for the name of its cluster, and one with another name
 * counts as no answer. The name is the text of a link in the folder of the pool; a pool without runs takes any cluster.
 * A controller that lost its state has its old name: it ends the jobs that it does not know itself.
 */

interface OneClusterOptions {
  slurm: Slurm
  layout: Layout
  hasRuns(): Promise<boolean>
  clock: Clock
}

/** Shorter than the time after which it counts that Slurm does not have a job. */
const freshMs = 5_000
const answerMsMax = 15_000

export function ofOneCluster({ slurm, layout, hasRuns, clock }: OneClusterOptions): Slurm {
  const path = join(layout.own, clusterName)
  let checkedMs = Number.NEGATIVE_INFINITY
  let checking: Promise<void> | null = null

  async function check(): Promise<void> {
    const name = await readName(slurm)
    if (name !== null) await compare(name).catch(unlessTrouble)
    checkedMs = clock.monotonicMs()
  }

  async function compare(name: string): Promise<void> {
    const recorded = await unlessMissing(readlink(path))
    if (recorded === name) return
    if (recorded !== null && (await hasRuns()))
      throw new SlurmAway(
        `this is the cluster ${name}, and the runs of the pool are in the cluster ${recorded}: let SLURM_CONF lead there; if it is the same cluster under a new name, remove ${path}`,
      )
    await rm(path, { force: true })
    await symlink(name, path)
  }

  /** A folder that cannot be used now tells nothing of clusters. */
  function unlessTrouble(error: unknown): void {
    if (!(layout.blame(error) instanceof SharedDirTrouble)) throw error
  }

  return async (asked) => {
    if (clock.monotonicMs() - checkedMs >= freshMs) {
      checking ??= check().finally(() => {
        checking = null
      })
      await checking
    }
    return slurm(asked)
  }
}

/** null: it does not tell. */
async function readName(slurm: Slurm): Promise<string | null> {
  try {
    const text = await slurm({ command: 'scontrol', args: ['show', 'config'], timeoutMs: answerMsMax })
    return text.match(/^ClusterName\s*=\s*(\S+)/m)?.[1] ?? null
  } catch (error) {
    const { code } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException
    if (error instanceof SlurmRefused || code === 'ENOENT') return null
    throw error
  }
}
