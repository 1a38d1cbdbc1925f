import { existsSync, readFileSync } from 'node:fs'
import { blameMachine, blameSpool } from '../backend/machine-trouble.ts'
import { StartFailed } from '../executor.ts'
import type { RunFiles } from './spool.ts'

/** Throws NODE_TROUBLE instead of an error of the file system. */
export function catchSpoolTrouble<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw blameSpool(error)
  }
}

const printedMax = 300

/** The shim did not take its claim; the command that changes the account, or the shell, may have printed the reason. */
export function describeEarlyEnd({ stderr }: RunFiles): StartFailed {
  const printed = existsSync(stderr) ? readFileSync(stderr, 'utf8').trim().slice(0, printedMax) : ''
  const why = printed === '' ? '' : `: ${printed}`
  return new StartFailed('START_FAILED', `The process of the run ended before it began${why}`)
}

/** A process of the run could not be started, so the run has not begun. */
export const describeFailedFork = () => blameMachine(Object.assign(new Error('fork'), { code: 'EAGAIN' }))

export const noMpirun = 'launcher: mpirun is not in the PATH of the job'
