import { existsSync, readFileSync } from 'node:fs'
import { troubleOf } from '../../platform/troubles.ts'
import { StartFailed } from '../executor.ts'
import type { RunFiles } from './spool.ts'

/** Errors of a machine that has run out of something, in words that name no path. */
const words: Readonly<Record<string, string>> = {
  ENOSPC: 'no space is left on its disk',
  EDQUOT: 'the disk quota of the server is used up',
  EROFS: 'its disk is read-only',
  EIO: 'its disk fails',
  EMFILE: 'the server has too many files open',
  ENFILE: 'the machine has too many files open',
  ENOMEM: 'no memory is left',
  EAGAIN: 'no further process may be started',
}

/** NODE_TROUBLE if the machine is at fault, else the same error. */
export function blamed(error: unknown): unknown {
  const message = words[troubleOf(error)?.kind ?? '']
  return message ? new StartFailed('NODE_TROUBLE', message, { cause: error }) : error
}

/** Every failure of the spool is a failure of the machine. */
export function ofSpool<T>(work: () => T): T {
  try {
    return work()
  } catch (cause) {
    const error = blamed(cause)
    throw error instanceof StartFailed ? error : new StartFailed('NODE_TROUBLE', 'its spool cannot be used', { cause })
  }
}

const wordsMax = 300

/** The shim did not take its claim; the command that changes the account, or the shell itself, may have printed why. */
export function endedEarly({ stderr }: RunFiles): StartFailed {
  const said = existsSync(stderr) ? readFileSync(stderr, 'utf8').trim().slice(0, wordsMax) : ''
  const why = said === '' ? '' : `: ${said}`
  return new StartFailed('START_FAILED', `The process of the run ended before it began${why}`)
}
