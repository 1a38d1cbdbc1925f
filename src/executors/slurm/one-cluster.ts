import { readlink, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../platform/clock.ts'
import { nullIfMissing } from '../backend/file-errors.ts'
import { BackendRefused, BackendUnreachable } from '../backend/unreachable.ts'
import type { Slurm } from './commands.ts'
import { clusterLink, type Layout, SharedDirTrouble } from './layout.ts'

/**
 * Makes sure that commands reach the cluster on which the pool's runs are: after a change of SLURM_CONF, another
 * cluster could respond, which reuses the same job ids. A symbolic link in the pool's directory contains the name of
 * the cluster. A pool without runs accepts any cluster.
 */

interface OneClusterOptions {
  slurm: Slurm
  layout: Layout
  hasRuns(): Promise<boolean>
  clock: Clock
}

/** Must be shorter than the time after which a job that Slurm does not report counts as missing. */
const freshMs = 5_000
const answerMsMax = 15_000

export function checkClusterName({ slurm, layout, hasRuns, clock }: OneClusterOptions): Slurm {
  const path = join(layout.own, clusterLink)
  let checkedMs = Number.NEGATIVE_INFINITY
  let checking: Promise<void> | null = null

  async function check(): Promise<void> {
    const name = await readName(slurm)
    if (name !== null) await compare(name).catch(unlessTrouble)
    checkedMs = clock.monotonicMs()
  }

  async function compare(name: string): Promise<void> {
    const recorded = await nullIfMissing(readlink(path))
    if (recorded === name) return
    if (recorded !== null && (await hasRuns()))
      throw new BackendUnreachable(
        `this is the cluster ${name}, and the runs of the pool are in the cluster ${recorded}: point SLURM_CONF to that cluster; if the cluster was renamed, remove ${path}`,
      )
    // The folder may belong to another account since the server made it.
    await layout.checkWritable()
    await rm(path, { force: true })
    await symlink(name, path)
  }

  /** Ignores an unusable directory, which does not identify the cluster. */
  function unlessTrouble(error: unknown): void {
    if (!(error instanceof SharedDirTrouble || layout.explainError(error) instanceof SharedDirTrouble)) throw error
  }

  return async (command) => {
    if (clock.monotonicMs() - checkedMs >= freshMs) {
      checking ??= check().finally(() => {
        checking = null
      })
      await checking
    }
    return slurm(command)
  }
}

async function readName(slurm: Slurm): Promise<string | null> {
  try {
    const text = await slurm({ command: 'scontrol', args: ['show', 'config'], timeoutMs: answerMsMax })
    return text.match(/^ClusterName\s*=\s*(\S+)/m)?.[1] ?? null
  } catch (error) {
    const { code } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException
    if (error instanceof BackendRefused || code === 'ENOENT') return null
    throw error
  }
}
