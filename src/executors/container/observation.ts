import { signalFromExitCode } from '../backend/exit-code.ts'
import { mapWords } from '../backend/map-words.ts'
import type { Ended, Observation } from '../executor.ts'
import { labels } from './labels.ts'

/** The engine's response for one container (`GET /containers/{id}/json`), as far as Berth uses it. */
export interface Inspected {
  Id: string
  Created: string
  State: {
    Status: string
    Pid: number
    ExitCode: number
    OOMKilled: boolean
    Error: string
    StartedAt: string
    FinishedAt: string
  }
  Config: { Labels: Readonly<Record<string, string>> | null }
  Mounts?: readonly { Destination?: string }[] | null
  NetworkSettings: { Networks?: Readonly<Record<string, { IPAddress?: string } | undefined>> | null }
}

type Phase = 'waits' | 'runs' | 'over'

const phases = mapWords<Phase>([
  ['waits', 'created configured initialized'],
  ['runs', 'running paused stopping'],
  ['over', 'restarting removing exited stopped dead'],
])

/** Throws for an unknown state, because a wrong guess could end or repeat a run. */
export function parsePhase(status: string): Phase {
  const phase = phases.get(status.toLowerCase())
  if (!phase) throw new Error(`The container engine has an unknown state: ${status}`)
  return phase
}

/** Exit codes of a command that could not be executed: the engine sets them although no process ran. */
const notExecuted: readonly number[] = [126, 127]
const hasNoCommand = ({ Error: error, ExitCode: code }: Inspected['State']) =>
  error !== '' && notExecuted.includes(code)

export const isUnstarted = ({ State: state }: Inspected) =>
  parsePhase(state.Status) === 'waits' && !hasNoCommand(state) && !isLostWithMachine({ State: state })

export const endedWithEngine: Observation = {
  state: 'gone',
  info: 'The container engine was stopped, and ended its container',
}

/**
 * true: the container ran until its machine stopped. Podman then knows no end: version 4 calls such a container created,
 * later ones call it exited with code 0. Dockerd records an end when it starts (engine-stop.ts).
 */
export const isLostWithMachine = ({
  State: { Status: status, StartedAt: started, FinishedAt: finished },
}: Pick<Inspected, 'State'>) => parsePhase(status) !== 'runs' && Date.parse(started) > 0 && !(Date.parse(finished) > 0)

export interface Known {
  stopped: boolean
  toTime(engineMs: number): Date
  startedAt: Date | null
}

export const needsEngineTime = (inspected: Inspected, startedAt: Date | null): boolean =>
  !isUnstarted(inspected) && (startedAt === null || parsePhase(inspected.State.Status) !== 'runs')

export function observeContainer(inspected: Inspected, known: Known): Observation {
  const { State: state, Id: nativeId } = inspected
  if (isLostWithMachine(inspected)) return endedWithEngine
  switch (parsePhase(state.Status)) {
    case 'waits':
      if (hasNoCommand(state)) return endOf(inspected, known)
      return { state: 'starting', ...(state.Error !== '' && { info: state.Error }) }
    case 'runs':
      return {
        state: 'running',
        nativeId,
        ...begun(inspected, known),
        ...findContainerAddress(inspected),
        ...digestOf(inspected),
      }
    case 'over':
      return isBeingRemoved(state, known)
        ? { state: 'gone', info: 'The container was removed' }
        : endOf(inspected, known)
  }
}

/** The engine is removing the container: it sets `removing`, kills the container, and then removes it. */
const isBeingRemoved = ({ Status: status, ExitCode: code, OOMKilled: isOom }: Inspected['State'], { stopped }: Known) =>
  status === 'removing' && code === 137 && !isOom && !stopped

function endOf(inspected: Inspected, known: Known): Ended {
  const { ExitCode: exitCode, FinishedAt: finished } = inspected.State
  const signal = signalFromExitCode(exitCode)
  const finishedMs = Date.parse(finished)
  const { startedAt } = begun(inspected, known)
  return {
    state: 'ended',
    exitCode,
    signal,
    stopped: known.stopped,
    nativeId: inspected.Id,
    ...digestOf(inspected),
    ...(hasNoCommand(inspected.State) && { info: inspected.State.Error }),
    ...causeOf(inspected, { signal, stopped: known.stopped }),
    ...(startedAt && { startedAt }),
    ...(finishedMs > 0 && { finishedAt: noEarlier(known.toTime(finishedMs), startedAt) }),
  }
}

/**
 * Returns the later of the two. The start comes from the kernel with a resolution of 10 ms, the end from the engine, so
 * the end could seem earlier.
 */
const noEarlier = (end: Date, start: Date | undefined): Date => (start && start > end ? start : end)

/**
 * The cause of an end. A signal after the maximum run time that Berth did not send came from the container's own
 * deadline.
 */
function causeOf(
  { Created: created, State: state, Config: { Labels: given } }: Inspected,
  { signal, stopped }: Pick<Ended, 'signal' | 'stopped'>,
): Pick<Ended, 'cause'> {
  if (state.OOMKilled) return { cause: 'OOM_KILLED' }
  const limitSeconds = Number(given?.[labels.limit] ?? 0)
  // Uses the creation, because a busy engine records the start seconds late.
  const ranMs = Date.parse(state.FinishedAt) - Date.parse(created)
  const isOverdue = limitSeconds > 0 && ranMs >= limitSeconds * 1000
  return isOverdue && signal !== null && !stopped ? { cause: 'MAX_RUN_TIME' } : {}
}

/** true: the container was started. The engine reports the year 1 for an event that did not happen. */
function begun({ State: { StartedAt: started } }: Inspected, { startedAt, toTime }: Known): { startedAt?: Date } {
  const startedMs = Date.parse(started)
  if (startedAt) return { startedAt }
  return startedMs > 0 ? { startedAt: toTime(startedMs) } : {}
}

function digestOf({ Config: { Labels: given } }: Inspected): { imageDigest?: string } {
  const imageDigest = given?.[labels.imageDigest]
  return imageDigest ? { imageDigest } : {}
}

export function findContainerAddress({ NetworkSettings: { Networks: networks } }: Inspected): { ip?: string } {
  const ip = Object.values(networks ?? {}).find((network) => network?.IPAddress)?.IPAddress
  return ip ? { ip } : {}
}
