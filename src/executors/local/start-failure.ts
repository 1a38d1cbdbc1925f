import { existsSync, readFileSync } from 'node:fs'
import { blameMachine, blameSpool } from '../backend/blame-machine.ts'
import { StartFailed } from '../executor.ts'
import type { RunFiles } from './spool.ts'

/** Converts errors of the file system to NODE_TROUBLE. */
export function catchSpoolTrouble<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw blameSpool(error)
  }
}

const printedMax = 300

/**
 * Describes why a shim exited without taking its claim. The shell, or the command that switches the account, may have
 * printed the reason.
 */
export function describeEarlyEnd({ stderr }: RunFiles): StartFailed {
  const printed = existsSync(stderr) ? readFileSync(stderr, 'utf8').trim().slice(0, printedMax) : ''
  const why = printed === '' ? '' : `: ${printed}`
  return new StartFailed('START_FAILED', `The process of the run ended before it began${why}`)
}

/** Describes a failed fork: a process of the run could not be started, so the run has not begun. */
export const describeFailedFork = () => blameMachine(Object.assign(new Error('fork'), { code: 'EAGAIN' }))

export const noMpirunMessage = 'launcher: mpirun is not in the PATH of the job'
