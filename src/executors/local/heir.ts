import { type ChildProcess, spawn } from 'node:child_process'
import { heirScript, shell } from './shell.ts'

/**
 * Outlives this server, and sends the KILL that a stop announced if the server is gone at the end of the grace:
 * heir.sh. It is started at the first such stop and sleeps in a read of a pipe until this process is over.
 */

export interface Heir {
  /** Starts the heir if there is none. */
  ensure(): void
  close(): void
}

export function createHeir(runsDirectory: string): Heir {
  let heir: ChildProcess | undefined

  function begin(): ChildProcess {
    const args = ['-c', heirScript, 'berth-heir', runsDirectory]
    const child = spawn(shell, args, { detached: true, env: {}, cwd: '/', stdio: ['pipe', 'ignore', 'ignore'] })
    const forget = () => {
      if (heir === child) heir = undefined
    }
    child.once('exit', forget).once('error', forget)
    child.stdin?.on('error', forget)
    child.unref()
    return child
  }

  return {
    ensure() {
      heir ??= begin()
    },
    close() {
      heir?.stdin?.end()
    },
  }
}
