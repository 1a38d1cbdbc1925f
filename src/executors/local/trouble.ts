import { existsSync, readFileSync } from 'node:fs'
import { troubleOf } from '../../platform/troubles.ts'
import { StartFailed } from '../executor.ts'
import type { RunFiles } from './spool.ts'

/** What the kernel says of a machine that has no more of something, in words that name no path. */
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

/** The same error, unless the machine is at fault. */
export function blamed(error: unknown): unknown {
  const message = words[troubleOf(error)?.kind ?? '']
  return message ? new StartFailed('NODE_TROUBLE', message, { cause: error }) : error
}

/** The spool is the machine's, whatever is wrong with it. */
export function ofSpool<T>(work: () => T): T {
  try {
    return work()
  } catch (cause) {
    const error = blamed(cause)
    throw error instanceof StartFailed ? error : new StartFailed('NODE_TROUBLE', 'its spool cannot be used', { cause })
  }
}

const wordsMax = 300

/** The shim never took its claim; what changes the account, or the shell itself, may have said why. */
export function endedEarly({ stderr }: RunFiles): StartFailed {
  const said = existsSync(stderr) ? readFileSync(stderr, 'utf8').trim().slice(0, wordsMax) : ''
  const why = said === '' ? '' : `: ${said}`
  return new StartFailed('START_FAILED', `The process of the run ended before it began${why}`)
}
