import { blameMachine } from '../backend/blame-machine.ts'
import { BackendRefused, BackendUnreachable } from '../backend/unreachable.ts'
import { StartFailed } from '../executor.ts'

export const engineUnreachable = 'The container engine is unreachable'
/** How dockerd and Podman report a full disk. */
export const diskFull = 'no space left on device'

/**
 * Converts an error of a start. A refused request is a mistake of the job; an unreachable engine or a full disk, for
 * example after a pull, is not.
 */
export function explainFailure(error: unknown): unknown {
  if (error instanceof BackendUnreachable)
    return new StartFailed('BACKEND_AWAY', `${engineUnreachable}: ${error.message}`, { cause: error })
  if (!(error instanceof BackendRefused)) return blameMachine(error)
  if (error.message.includes(diskFull))
    return new StartFailed('BACKEND_AWAY', `The container engine has no space: ${error.message}`, { cause: error })
  const reason = error.status === 400 ? 'BAD_SPEC' : 'START_FAILED'
  return new StartFailed(reason, `The container engine refused: ${error.message}`, { cause: error })
}
