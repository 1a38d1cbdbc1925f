import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { type Account, changeTo } from '../account.ts'
import { StartFailed } from '../executor.ts'
import { pathCheck } from '../scripts.ts'
import { shell } from './shell.ts'

const run = promisify(execFile)

/** Maximum wait for a file system that does not answer, such as a network's. */
const checkMs = 10_000

/**
 * Refuses a run whose account cannot use the files that the spec names for its streams. A process of that account
 * checks before the run, because the server may be root.
 */
export async function checkPaths(paths: readonly string[], account: Account | null): Promise<void> {
  if (paths.every((path) => path === '')) return
  const [file = shell, ...args] = [...changeTo(account), shell, '-c', pathCheck, 'berth', ...paths]
  await run(file, args, { timeout: checkMs, env: {}, cwd: '/' }).catch((cause) => {
    if (cause.code === 1) throw new StartFailed('BAD_SPEC', cause.stdout.trim(), { cause })
    throw new StartFailed('START_FAILED', 'stdinPath, stdoutPath and stderrPath could not be checked', { cause })
  })
}
