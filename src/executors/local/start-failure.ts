import { existsSync, readFileSync } from 'node:fs'
import { blameMachine, blameSpool } from '../backend/machine-trouble.ts'
import { StartFailed } from '../executor.ts'
import type { RunFiles } from './spool.ts'

export function ofSpool<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw blameSpool(error)
  }
}

const wordsMax = 300

/** The shim did not take its claim; the command that changes the account, or the shell itself, may have printed why. */
export function endedEarly({ stderr }: RunFiles): StartFailed {
  const said = existsSync(stderr) ? readFileSync(stderr, 'utf8').trim().slice(0, wordsMax) : ''
  const why = said === '' ? '' : `: ${said}`
  return new StartFailed('START_FAILED', `The process of the run ended before it began${why}`)
}

/** A process of the run could not be started, so none of it has begun. */
export const unforked = () => blameMachine(Object.assign(new Error('fork'), { code: 'EAGAIN' }))

export const noMpirun = 'launcher mpirun: there is no mpirun in the PATH of the job'
