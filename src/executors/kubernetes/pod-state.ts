import { signalFromExitCode } from '../backend/exit-code.ts'
import type { Ended, StartFailed } from '../executor.ts'
import { displayLossOf, displayOf } from './display.ts'
import { isEndedByNow, isOutOfTime } from './kubelet-deadline.ts'
import { annotations } from './names.ts'
import type { Pod } from './objects.ts'
import { containerName } from './pod.ts'

/**
 * What one pod means. Every phase and reason that decides something is in a table; one that no table has is an
 * UnknownState, because a guess could end or repeat a run.
 */

export interface Surroundings {
  /** Converts a moment of the cluster, which tells whole seconds, rounded down, to database time. */
  toTime(iso: string): Date
  nowMs: number
  /** Nodes that do not answer. */
  silent: ReadonlySet<string>
  /** What the cluster says it does for a pod that waits, by the pod's uid. */
  doing: ReadonlyMap<string, string>
}

export class UnknownState extends Error {
  override name = 'UnknownState'
}

type Failure = { kind: 'failed'; reason: StartFailed['reason']; message: string }
type Gone = { kind: 'gone'; info: string; cause?: 'PREEMPTED' }
type Over = { kind: 'over'; ended: Ended }
/** It waited for the other pods of its run for as long as a pod does. */
type Alone = { kind: 'alone'; info: string }

/** What one pod means. */
export type Part =
  | { kind: 'waits'; info?: string }
  | { kind: 'runs'; startedAt: Date }
  | { kind: 'unreachable'; info: string }
  | Over
  | Alone
  | Gone
  | Failure

/** An image that cannot be pulled for this long fails the start; the kubelet would try for ever. */
const pullMsMax = 600_000
const secondMs = 1_000
/** More than the rounding of three moments to seconds. */
const roundedMsMax = 5_000

const phases = ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'] as const
type Phase = (typeof phases)[number]

type Meaning =
  /** The exit code of the container counts. */
  | 'EXIT'
  | 'OOM_KILLED'
  | 'MAX_RUN_TIME'
  | 'OVER_STORAGE'
  | 'NODE_SILENT'
  /** Ended by the cluster, not by the command. */
  | 'GONE'
  | 'PREEMPTED'
  /** The command never ran. */
  | 'NOT_STARTED'
  | 'BAD_SPEC'

/** Reasons of a pod: the kubelet or a controller ended it or refused it. */
const podReasons: Readonly<Record<string, Meaning>> = {
  DeadlineExceeded: 'MAX_RUN_TIME',
  Evicted: 'GONE',
  NodeLost: 'NODE_SILENT',
  NodeShutdown: 'GONE',
  Shutdown: 'GONE',
  Terminated: 'GONE',
  Preempting: 'PREEMPTED',
  ...Object.fromEntries(
    [
      'AppArmor',
      'Forbidden',
      'InvalidNodeInfo',
      'NodeAffinity',
      'NodeName',
      'NodePorts',
      'NodeSelectorMismatching',
      'PodOSNotSupported',
      'PodOSSelectorNodeLabelDoesNotMatch',
      'SMTAlignmentError',
      'SupplementalGroupsPolicyNotSupported',
      'SysctlForbidden',
      'TaintToleration',
      'TopologyAffinityError',
      'UnexpectedAdmissionError',
      'UnexpectedPredicateFailureType',
      'UnknownReason',
    ].map((reason) => [reason, 'NOT_STARTED' as const]),
  ),
}

/** The kubelet evicts a pod that writes more than it may with the same reason as one that others push out; its text tells. */
const overStorage = /exceed(s|ed) (the total limit|the limit|its local ephemeral storage limit)/

/** The kubelet says `OutOf` with the name of the resource that its node does not have, such as `OutOfnvidia.com/gpu`. */
function meaningOfPod({ status: { reason = '', message = '' } }: Pod): Meaning | undefined {
  if (reason === 'Evicted' && overStorage.test(message)) return 'OVER_STORAGE'
  return podReasons[reason] ?? (reason.startsWith('OutOf') ? 'NOT_STARTED' : undefined)
}

/** Reasons of a container that is over. */
const endReasons: Readonly<Record<string, Meaning>> = {
  Completed: 'EXIT',
  Error: 'EXIT',
  OOMKilled: 'OOM_KILLED',
  DeadlineExceeded: 'MAX_RUN_TIME',
  ContainerCannotRun: 'BAD_SPEC',
  StartError: 'BAD_SPEC',
  ContainerStatusUnknown: 'GONE',
}

/** Reasons of a container that waits; any other is shown and waited for. */
const waitReasons: Readonly<Record<string, 'PULL' | 'BAD_SPEC' | 'NOT_STARTED'>> = {
  ErrImagePull: 'PULL',
  ImagePullBackOff: 'PULL',
  RegistryUnavailable: 'PULL',
  InvalidImageName: 'BAD_SPEC',
  ErrImageNeverPull: 'NOT_STARTED',
}

/** Why the cluster deletes a pod, as newer versions tell it. */
const disruptions: Readonly<Record<string, 'GONE' | 'PREEMPTED'>> = {
  PreemptionByScheduler: 'PREEMPTED',
  PreemptionByKubeScheduler: 'PREEMPTED',
}

export function partOf(pod: Pod, surroundings: Surroundings): Part {
  const known = { ...surroundings, toTime: nodeTimeOf(pod, surroundings) }
  const phase = phaseOf(pod)
  const container = containerOf(pod)
  const node = pod.spec.nodeName
  if (phase === 'Unknown') return { kind: 'unreachable', info: `Node ${node} does not answer` }
  if (container?.terminated) return endOf(pod, container.terminated, known)
  const isOver = podIsOver(pod)
  const isEnding = isOver && container?.running !== undefined && isOutOfTime(pod)
  if (isOver && !isEnding) return withoutContainer(pod)
  if (node !== undefined && known.silent.has(node)) return { kind: 'unreachable', info: `Node ${node} does not answer` }
  if (isEnding && isEndedByNow(pod, surroundings)) return withoutContainer(pod)
  if (container?.running) return withDisplay(pod, container.running, known)
  return waitOf(pod, container?.waiting ?? {}, known)
}

/**
 * Converts a moment that the kubelet tells. It took the pod after the API server noted the node, so one that took it
 * before has a clock that is slow, by that much at least: the run would seem to be over its time when it begins. A moment
 * that this puts after now was told when the clock had been corrected.
 */
function nodeTimeOf(pod: Pod, { toTime, nowMs }: Pick<Surroundings, 'toTime' | 'nowMs'>): Surroundings['toTime'] {
  const placed = scheduledOf(pod)
  const { startTime } = pod.status
  if (placed?.status !== 'True' || !placed.lastTransitionTime || startTime === undefined) return toTime
  const slowMs = Math.max(0, Date.parse(placed.lastTransitionTime) - Date.parse(startTime))
  return (iso) => {
    const told = toTime(iso)
    const movedMs = told.getTime() + slowMs
    return movedMs > nowMs + roundedMsMax ? told : new Date(Math.min(nowMs, movedMs))
  }
}

/** The command begins when the display answers. */
function withDisplay(pod: Pod, running: { startedAt: string }, known: Surroundings): Part {
  const display = displayOf(pod)
  if (display === null || display.kind === 'up') return { kind: 'runs', startedAt: beganAt(pod, running, known) }
  if (display.kind === 'failed') return { kind: 'failed', reason: 'START_FAILED', message: display.message }
  const part = waitOf(pod, display.waiting, known)
  // The image is the administrator's, so the job is not to blame for its name.
  return part.kind === 'failed'
    ? { ...part, reason: 'START_FAILED', message: `The X11 display cannot start: ${part.message}` }
    : part
}

/** The image of a display may be pulled after the supervisor of the job has begun to wait for it. */
function beganAt(pod: Pod, running: { startedAt: string }, { toTime }: Surroundings): Date {
  const display = displayOf(pod)
  const own = bornAt(pod, running.startedAt, toTime)
  return display?.kind === 'up' && display.startedAt ? later(own, toTime(display.startedAt)) : own
}

/** A pod that began in the second in which it was asked for began after that. */
function bornAt({ metadata }: Pod, startedAt: string, toTime: Surroundings['toTime']): Date {
  const asked = metadata.annotations?.[annotations.asked]
  return asked === undefined ? toTime(startedAt) : later(toTime(startedAt), new Date(asked))
}

function phaseOf({ status, metadata }: Pod): Phase {
  const phase = phases.find((each) => each === (status.phase ?? 'Pending'))
  if (!phase) throw new UnknownState(`The pod ${metadata.name} has an unknown phase: ${status.phase}`)
  return phase
}

export const containerOf = ({ status }: Pod) =>
  status.containerStatuses?.find(({ name }) => name === containerName)?.state

/** The command may have begun, so deleting the pod could lose output. */
export function hasBegun(pod: Pod): boolean {
  const state = containerOf(pod)
  return Boolean(state?.running ?? state?.terminated)
}

/** Its command cannot begin before something changes: it has no node or no image. */
export const cannotBegin = (pod: Pod) =>
  pod.spec.nodeName === undefined || waitReasons[containerOf(pod)?.waiting?.reason ?? ''] !== undefined

export const podIsOver = (pod: Pod) =>
  Boolean(containerOf(pod)?.terminated) || pod.status.phase === 'Failed' || pod.status.phase === 'Succeeded'

type Terminated = NonNullable<ReturnType<typeof containerOf>>['terminated'] & object

function endOf(pod: Pod, terminated: Terminated, known: Surroundings): Part {
  const words = (terminated.message ?? '').split('\n')
  const why = meaningOfEnd(pod, terminated)
  const message = words.some((word) => lifePattern.test(word)) ? undefined : terminated.message
  const info = pod.status.message ?? message ?? `${terminated.reason} (exit code ${terminated.exitCode})`
  const wasStopped = words.includes('STOPPED') || isEndedByStop(pod, terminated)
  if (why === 'BAD_SPEC')
    return withdrawnOf(pod) ?? { kind: 'failed', reason: 'BAD_SPEC', message: `The container cannot start: ${info}` }
  const told = words.flatMap((word) => beforeCommand.get(word) ?? [])[0]
  if (told) return told
  const neverBegan = terminated.startedAt ? null : withdrawnOf(pod)
  if (neverBegan) return neverBegan
  const isByOthers = terminated.exitCode !== 0 && !wasStopped && why !== 'PREEMPTED'
  const deletion = isByOthers ? deletionOf(pod) : null
  if (deletion) return deletion
  if (why === 'GONE' || why === 'PREEMPTED') return goneFor(why, info)
  const more = why === 'OVER_STORAGE' ? info : displayLossOf(pod)
  const causes = { OOM_KILLED: 'OOM_KILLED', MAX_RUN_TIME: 'MAX_RUN_TIME' } as const
  const cause = words.includes('MAX_RUN_TIME') ? 'MAX_RUN_TIME' : causes[why as keyof typeof causes]
  return {
    kind: 'over',
    ended: {
      state: 'ended',
      ...codeOf(terminated.exitCode),
      stopped: wasStopped,
      ...(cause && { cause }),
      ...(more !== null && { info: more }),
      ...momentsOf(pod, terminated, known),
    },
  }
}

function momentsOf(pod: Pod, terminated: Terminated, known: Surroundings): Pick<Ended, 'startedAt' | 'finishedAt'> {
  const { startedAt } = terminated
  const finishedAt = terminated.finishedAt ? endedAt(pod, terminated, known) : null
  return {
    ...(startedAt && { startedAt: earlier(beganAt(pod, { startedAt }, known), finishedAt) }),
    ...(finishedAt && { finishedAt }),
  }
}

const earlier = (one: Date, other: Date | null) => (other !== null && other < one ? other : one)
const later = (one: Date, other: Date) => (other > one ? other : one)

/** What the supervisor says last: how long it lived, in hundredths of a second. */
const lifePattern = /^RAN (\d{1,12})$/

/** The job could say that as well, so it counts only within the seconds that the kubelet tells. */
function endedAt(pod: Pod, { message = '', startedAt, finishedAt }: Terminated, { toTime }: Surroundings): Date {
  const told = message
    .split('\n')
    .findLast((word) => lifePattern.test(word))
    ?.match(lifePattern)?.[1]
  const end = finishedAt ?? ''
  if (told === undefined || !startedAt) return toTime(end)
  const bySecondsMs = Date.parse(end) - Date.parse(startedAt)
  const livedMs = Math.max(bySecondsMs - secondMs, Math.min(bySecondsMs + secondMs, Number(told) * 10))
  return new Date(bornAt(pod, startedAt, toTime).getTime() + Math.max(0, livedMs))
}

/** What the supervisor says if the command never began. */
const beforeCommand: ReadonlyMap<string, Part> = new Map<string, Part>([
  [
    'WORKDIR_NOT_FOUND',
    {
      kind: 'failed',
      reason: 'WORKDIR_NOT_FOUND',
      message: 'The workdir does not exist in the container; name a directory of the image, such as /',
    },
  ],
  ['NOT_TOGETHER', { kind: 'alone', info: 'Its pods did not all run within three hours' }],
  [
    'NO_DISPLAY',
    { kind: 'failed', reason: 'START_FAILED', message: 'Its X11 display did not start within three hours' },
  ],
])

const codeOf = (exitCode: number) => ({ exitCode, signal: signalFromExitCode(exitCode) })

function meaningOfEnd(pod: Pod, { reason = '' }: Terminated): Meaning {
  const meaning = meaningOfPod(pod) ?? endReasons[reason]
  if (!meaning) throw new UnknownState(`The container of ${pod.metadata.name} ended for an unknown reason: ${reason}`)
  return meaning
}

/** Another program than Berth ended the run: a drain, the preemption of the cluster, a person. */
function deletionOf({ metadata, status: { conditions } }: Pod): Gone | null {
  const disruption = conditions?.find(({ type, status }) => type === 'DisruptionTarget' && status === 'True')
  if (disruption) return goneFor(disruptions[disruption.reason ?? ''] ?? 'GONE', disruption.message ?? 'Disrupted')
  return metadata.deletionTimestamp === undefined ? null : goneFor('GONE', 'Its pod was deleted')
}

/** A pod whose command has not begun; the kubelet may begin it meanwhile, and ends it then. */
const isDeletedByStop = ({ metadata: { deletionTimestamp, annotations: given = {} } }: Pod): boolean =>
  deletionTimestamp !== undefined && given[annotations.stop] !== undefined

const isEndedByStop = (pod: Pod, { exitCode }: Terminated) => exitCode !== 0 && isDeletedByStop(pod)

/** Berth deletes a pod whose command has not begun. Since 1.27 the kubelet shows it as failed before it goes. */
const withdrawnOf = (pod: Pod): Over | null =>
  isDeletedByStop(pod) ? { kind: 'over', ended: stoppedBeforeItBegan } : null

export const stoppedBeforeItBegan: Ended = { state: 'ended', ...codeOf(143), stopped: true }

const goneFor = (why: 'GONE' | 'PREEMPTED', info: string): Gone => ({
  kind: 'gone',
  info,
  ...(why === 'PREEMPTED' && { cause: why }),
})

function withoutContainer(pod: Pod): Part {
  const { reason = '', message = '' } = pod.status
  const info = [reason, message].filter((each) => each !== '').join(': ')
  const meaning = meaningOfPod(pod)
  switch (meaning) {
    case 'MAX_RUN_TIME':
      if (containerOf(pod)?.waiting)
        return { kind: 'failed', reason: 'START_FAILED', message: `${info} before its command began` }
      return { kind: 'over', ended: { state: 'ended', ...codeOf(137), stopped: false, cause: 'MAX_RUN_TIME' } }
    case 'OVER_STORAGE':
      return { kind: 'over', ended: { state: 'ended', ...codeOf(137), stopped: false, info } }
    case 'GONE':
    case 'PREEMPTED':
      return goneFor(meaning, info)
    case 'NODE_SILENT':
      return { kind: 'unreachable', info }
    case 'NOT_STARTED':
      return { kind: 'failed', reason: 'START_FAILED', message: info }
    default: {
      const deletion = withdrawnOf(pod) ?? deletionOf(pod)
      if (deletion) return deletion
      throw new UnknownState(`The pod ${pod.metadata.name} is ${pod.status.phase} for an unknown reason: ${info}`)
    }
  }
}

function waitOf(pod: Pod, waiting: { reason?: string; message?: string }, known: Surroundings): Part {
  const { metadata, spec, status } = pod
  const deletion = deletionOf(pod)
  if (deletion) return { kind: 'waits', info: 'Its pod is being deleted' }
  if (spec.nodeName === undefined) {
    return { kind: 'waits', info: scheduledOf(pod)?.message ?? 'Waiting for the scheduler of the cluster' }
  }
  const { reason = 'ContainerCreating', message } = waiting
  const info = message ? `${reason}: ${message}` : (known.doing.get(metadata.uid) ?? `${reason} on ${spec.nodeName}`)
  const meaning = waitReasons[reason]
  const waitedMs = status.startTime === undefined ? 0 : known.nowMs - known.toTime(status.startTime).getTime()
  if (meaning === 'BAD_SPEC') return { kind: 'failed', reason: 'BAD_SPEC', message: info }
  if (meaning === 'NOT_STARTED' || (meaning === 'PULL' && waitedMs > pullMsMax))
    return { kind: 'failed', reason: 'START_FAILED', message: info }
  return { kind: 'waits', info }
}

export const scheduledOf = ({ status }: Pod) => status.conditions?.find(({ type }) => type === 'PodScheduled')
