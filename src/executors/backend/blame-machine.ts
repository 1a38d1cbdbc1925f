import { classifyTrouble } from '../../platform/troubles.ts'
import { StartFailed } from '../executor.ts'
import { isMissingFolder } from './file-errors.ts'

/** Messages, without paths, for errors of a machine that has run out of a resource. */
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

/** Returns NODE_TROUBLE if the machine is at fault, else the same error. */
export function blameMachine(error: unknown): unknown {
  const message = words[classifyTrouble(error)?.kind ?? '']
  return message ? new StartFailed('NODE_TROUBLE', message, { cause: error }) : error
}

export const spoolMissing =
  'a folder of its spool is missing, or something else is in its place: move that away; the log of the server names it'

/** Returns NODE_TROUBLE for a failed access to the server's own files, because the machine is at fault. */
export function blameSpool(cause: unknown): StartFailed {
  const error = blameMachine(cause)
  if (error instanceof StartFailed) return error
  const message = isMissingFolder(cause) ? spoolMissing : 'its spool cannot be used'
  return new StartFailed('NODE_TROUBLE', message, { cause })
}
