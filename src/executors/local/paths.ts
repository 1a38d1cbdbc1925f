import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { type Account, changeTo } from '../account.ts'
import { StartFailed } from '../executor.ts'
import { pathCheck, shell } from './shell.ts'

const run = promisify(execFile)

/** A file system that does not answer (a network's) is not waited for any longer. */
const checkMs = 10_000

/**
 * Refuses a run whose account cannot use the files that the spec names for its streams. Asked of a process of that account
 * before the run: the server may be root, and what it may do says nothing.
 */
export async function checkPaths(paths: readonly string[], account: Account | null): Promise<void> {
  if (paths.every((path) => path === '')) return
  const [file = shell, ...args] = [...changeTo(account), shell, '-c', pathCheck, 'berth', ...paths]
  await run(file, args, { timeout: checkMs, env: {}, cwd: '/' }).catch((cause) => {
    if (cause.code === 1) throw new StartFailed('BAD_SPEC', cause.stdout.trim(), { cause })
    throw new StartFailed('START_FAILED', 'stdinPath, stdoutPath and stderrPath could not be checked', { cause })
  })
}
