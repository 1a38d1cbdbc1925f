import { execFile } from 'node:child_process'
import { accessSync, constants, statSync } from 'node:fs'
import { promisify } from 'node:util'
import { switchToAccount } from '../accounts/account.ts'
import { StartFailed } from '../executor.ts'
import { pathCheck } from '../process/scripts.ts'
import type { Launch } from './launch.ts'
import { entryCheck, shell } from './shell.ts'
import { noMpirunMessage } from './start-failure.ts'

const run = promisify(execFile)

/** Maximum time of the check, in case a file system is unreachable. */
const checkMs = 10_000

type Checked = Pick<Launch, 'cwd' | 'mpirunPath' | 'paths' | 'account'>

/**
 * Rejects a run whose account cannot enter its working directory, find its launcher, or open its stdin, stdout and
 * stderr paths. A process of that account checks this: the server may be root and see more files, which its messages
 * must not reveal.
 */
export async function checkPaths({ cwd, mpirunPath, paths, account }: Checked): Promise<void> {
  const isPlain = mpirunPath === '' && paths.every((path) => path === '')
  if (account === null && isPlain) return checkWorkdir(cwd)
  const script = `${entryCheck}${pathCheck}`
  const [file = shell, ...args] = [...switchToAccount(account), shell, '-c', script, 'berth', cwd, mpirunPath, ...paths]
  await run(file, args, { timeout: checkMs, env: {}, cwd: '/' }).catch((cause) => {
    if (cause.code === 1) throw new StartFailed('BAD_SPEC', cause.stdout.trim(), { cause })
    if (cause.code === 3) throw refuseWorkdir(cwd)
    if (cause.code === 4) throw new StartFailed('BAD_SPEC', noMpirunMessage, { cause })
    const what = 'workdir, stdinPath, stdoutPath and stderrPath'
    throw new StartFailed('START_FAILED', `${what} could not be checked`, { cause })
  })
}

/** Checks the working directory for a job of the server's own account. */
function checkWorkdir(path: string): void {
  try {
    accessSync(path, constants.X_OK)
    if (statSync(path).isDirectory()) return
  } catch {
    // The path is rejected below.
  }
  throw refuseWorkdir(path)
}

const refuseWorkdir = (path: string) =>
  new StartFailed('WORKDIR_NOT_FOUND', `workdir: the account of the job cannot enter ${path}`)
