import { signalFromExitCode } from '../backend/exit-code.ts'
import { mapWords } from '../backend/map-words.ts'
import type { Ended, StartFailed } from '../executor.ts'
import { explainDisplayLoss, getDisplayState } from './display.ts'
import { annotations } from './names.ts'
import type { Pod } from './objects.ts'
import { jobContainer } from './pod.ts'
import { explainSnapshotFailure, getSnapshotWait } from './snapshot.ts'

/**
 * Interprets one pod. Unknown phases and reasons throw UnknownState, because a wrong guess could end or repeat a run.
 */

export interface Surroundings {
  /** Converts a time of the cluster, rounded down to whole seconds, to database time. */
  toTime(iso: string): Date
  nowMs: number
  unreachable: ReadonlySet<string>
  /** The newest event about each waiting pod, by the pod's uid. */
  notices: ReadonlyMap<string, string>
}

export class UnknownState extends Error {
  override name = 'UnknownState'
}

type Failure = { kind: 'failed'; reason: StartFailed['reason']; message: string }
type Gone = { kind: 'gone'; info: string; cause?: 'PREEMPTED' }
type Over = { kind: 'over'; ended: Ended }
/** The pod gave up waiting for the other pods of the run. */
type Alone = { kind: 'alone'; info: string }

export type Part =
  | { kind: 'waits'; info?: string }
  | { kind: 'runs'; startedAt: Date }
  | { kind: 'unreachable'; info: string }
  | Over
  | Alone
  | Gone
  | Failure

/** If an image cannot be pulled for this long, the start fails; the kubelet would retry forever. */
const pullMsMax = 600_000
const secondMs = 1_000
const roundedMsMax = 5_000

const phases = ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'] as const
type Phase = (typeof phases)[number]

type Meaning =
  /** The exit code of the container determines the result. */
  | 'EXIT'
  | 'OOM_KILLED'
  | 'MAX_RUN_TIME'
  | 'OVER_STORAGE'
  | 'NODE_SILENT'
  | 'GONE'
  | 'PREEMPTED'
  /** The command never ran. */
  | 'NOT_STARTED'
  | 'BAD_SPEC'

const podReasons = mapWords<Meaning>([
  ['MAX_RUN_TIME', 'DeadlineExceeded'],
  ['GONE', 'Evicted NodeShutdown Shutdown Terminated'],
  ['NODE_SILENT', 'NodeLost'],
  ['PREEMPTED', 'Preempting'],
  ['NOT_STARTED', 'AppArmor Forbidden InvalidNodeInfo NodeAffinity NodeName NodePorts NodeSelectorMismatching'],
  ['NOT_STARTED', 'PodOSNotSupported PodOSSelectorNodeLabelDoesNotMatch SMTAlignmentError SysctlForbidden'],
  ['NOT_STARTED', 'SupplementalGroupsPolicyNotSupported TaintToleration TopologyAffinityError'],
  ['NOT_STARTED', 'UnexpectedAdmissionError UnexpectedPredicateFailureType UnknownReason'],
])

/** Only the message distinguishes the eviction of a pod that wrote too much from other evictions. */
const overStorage = /exceed(s|ed) (the total limit|the limit|its local ephemeral storage limit)/

/**
 * Returns the meaning of a failed pod's reason. For a missing resource the kubelet reports `OutOf` and its name, such
 * as `OutOfnvidia.com/gpu`.
 */
function meaningOfPod({ status: { reason = '', message = '' } }: Pod): Meaning | undefined {
  if (reason === 'Evicted' && overStorage.test(message)) return 'OVER_STORAGE'
  return podReasons.get(reason) ?? (reason.startsWith('OutOf') ? 'NOT_STARTED' : undefined)
}

const endReasons = mapWords<Meaning>([
  ['EXIT', 'Completed Error'],
  ['OOM_KILLED', 'OOMKilled'],
  ['MAX_RUN_TIME', 'DeadlineExceeded'],
  ['BAD_SPEC', 'ContainerCannotRun StartError'],
  ['GONE', 'ContainerStatusUnknown'],
])

/** Reasons of a waiting container; for any other reason the run waits. */
const waitReasons = mapWords<'PULL' | 'BAD_SPEC' | 'NOT_STARTED'>([
  ['PULL', 'ErrImagePull ImagePullBackOff RegistryUnavailable'],
  ['BAD_SPEC', 'InvalidImageName'],
  ['NOT_STARTED', 'ErrImageNeverPull'],
])

const preemptions: readonly string[] = ['PreemptionByScheduler', 'PreemptionByKubeScheduler']

export function interpretPod(pod: Pod, surroundings: Surroundings): Part {
  const known = { ...surroundings, toTime: nodeTimeOf(pod, surroundings) }
  const phase = phaseOf(pod)
  const container = getContainerState(pod)
  const node = pod.spec.nodeName
  if (phase === 'Unknown') return { kind: 'unreachable', info: `Node ${node} is unreachable` }
  if (container?.terminated) return endOf(pod, container.terminated, known)
  const isOver = podIsOver(pod)
  const failure = meaningOfPod(pod) === undefined ? explainSnapshotFailure(pod) : null
  if (isOver && failure !== null)
    return withdrawnOf(pod) ?? deletionOf(pod) ?? { kind: 'failed', reason: 'START_FAILED', message: failure }
  const isEnding = isOver && container?.running !== undefined && isOutOfTime(pod)
  if (isOver && !isEnding) return withoutContainer(pod)
  if (node !== undefined && known.unreachable.has(node))
    return { kind: 'unreachable', info: `Node ${node} is unreachable` }
  if (isEnding && hasKubeletEndedPod(pod, surroundings)) return withoutContainer(pod)
  if (container?.running) return withDisplay(pod, container.running, known)
  return waitOf(pod, getSnapshotWait(pod) ?? container?.waiting ?? {}, known)
}

/**
 * Returns a function that corrects the start time that the node reports. The kubelet accepts a pod after the API server
 * assigned the node. If its times say otherwise, its clock is slow, and the run would seem to exceed its maximum run
 * time at once. A time in the future comes from a clock that was corrected since.
 */
function nodeTimeOf(pod: Pod, { toTime, nowMs }: Pick<Surroundings, 'toTime' | 'nowMs'>): Surroundings['toTime'] {
  const placed = getScheduledCondition(pod)
  const { startTime } = pod.status
  if (placed?.status !== 'True' || !placed.lastTransitionTime || startTime === undefined) return toTime
  const slowMs = Math.max(0, Date.parse(placed.lastTransitionTime) - Date.parse(startTime))
  return (iso) => {
    const reported = toTime(iso)
    const movedMs = reported.getTime() + slowMs
    return movedMs > nowMs + roundedMsMax ? reported : new Date(Math.min(nowMs, movedMs))
  }
}

/** Interprets a pod with a display: the command begins when the display is ready. */
function withDisplay(pod: Pod, running: { startedAt: string }, known: Surroundings): Part {
  const display = getDisplayState(pod)
  if (display === null || display.kind === 'up') return { kind: 'runs', startedAt: beganAt(pod, running, known) }
  if (display.kind === 'failed') return { kind: 'failed', reason: 'START_FAILED', message: display.message }
  const part = waitOf(pod, display.waiting, known)
  // An invalid display image is a mistake of the operator, not of the job.
  return part.kind === 'failed'
    ? { ...part, reason: 'START_FAILED', message: `The X11 display cannot start: ${part.message}` }
    : part
}

/** Returns when the command began, which may be long after the start of its supervisor if it waited for the display. */
function beganAt(pod: Pod, running: { startedAt: string }, { toTime }: Surroundings): Date {
  const display = getDisplayState(pod)
  const own = bornAt(pod, running.startedAt, toTime)
  return display?.kind === 'up' && display.startedAt ? later(own, toTime(display.startedAt)) : own
}

/** Returns when a container started, or when the pod was requested, if rounding to whole seconds swaps them. */
function bornAt({ metadata }: Pod, startedAt: string, toTime: Surroundings['toTime']): Date {
  const asked = metadata.annotations?.[annotations.asked]
  return asked === undefined ? toTime(startedAt) : later(toTime(startedAt), new Date(asked))
}

function phaseOf({ status, metadata }: Pod): Phase {
  const phase = phases.find((each) => each === (status.phase ?? 'Pending'))
  if (!phase) throw new UnknownState(`The pod ${metadata.name} has an unknown phase: ${status.phase}`)
  return phase
}

const getJobContainer = ({ status }: Pod) => status.containerStatuses?.find(({ name }) => name === jobContainer)

export const getContainerState = (pod: Pod) => getJobContainer(pod)?.state

/** Returns undefined if the container has not begun, or its image is not from a registry. */
export const getImageDigest = (pod: Pod): string | undefined => getJobContainer(pod)?.imageID?.split('@')[1]

/** true: the command may have begun, so deleting the pod could lose output. */
export function hasBegun(pod: Pod): boolean {
  const state = getContainerState(pod)
  return Boolean(state?.running ?? state?.terminated)
}

/** true: the pod has no node or no image yet. */
export const cannotBegin = (pod: Pod) =>
  pod.spec.nodeName === undefined || waitReasons.has(getContainerState(pod)?.waiting?.reason ?? '')

export const podIsOver = (pod: Pod) =>
  Boolean(getContainerState(pod)?.terminated) || pod.status.phase === 'Failed' || pod.status.phase === 'Succeeded'

type Terminated = NonNullable<ReturnType<typeof getContainerState>>['terminated'] & object

function endOf(pod: Pod, terminated: Terminated, known: Surroundings): Part {
  const words = (terminated.message ?? '').split('\n')
  const why = meaningOfEnd(pod, terminated)
  const message = words.some((word) => lifePattern.test(word)) ? undefined : terminated.message
  const info = pod.status.message ?? message ?? `${terminated.reason} (exit code ${terminated.exitCode})`
  const wasStopped = words.includes('STOPPED') || isEndedByStop(pod, terminated)
  if (why === 'BAD_SPEC')
    return withdrawnOf(pod) ?? { kind: 'failed', reason: 'BAD_SPEC', message: `The container cannot start: ${info}` }
  const neverRan = words.flatMap((word) => beforeCommand.get(word) ?? [])[0]
  if (neverRan) return neverRan
  const neverBegan = terminated.startedAt ? null : withdrawnOf(pod)
  if (neverBegan) return neverBegan
  const isByOthers = terminated.exitCode !== 0 && !wasStopped && why !== 'PREEMPTED'
  const deletion = isByOthers ? deletionOf(pod) : null
  if (deletion) return deletion
  if (why === 'GONE' || why === 'PREEMPTED') return goneFor(why, info)
  const more = why === 'OVER_STORAGE' ? info : explainDisplayLoss(pod)
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

/** The supervisor's last message: its lifetime in hundredths of a second. */
const lifePattern = /^RAN (\d{1,12})$/

/**
 * Returns when the command ended. The job could also write the supervisor's message, so its time is used only if it is
 * within the second that the kubelet reports.
 */
function endedAt(pod: Pod, { message = '', startedAt, finishedAt }: Terminated, { toTime }: Surroundings): Date {
  const lifetime = message
    .split('\n')
    .findLast((word) => lifePattern.test(word))
    ?.match(lifePattern)?.[1]
  const end = finishedAt ?? ''
  if (lifetime === undefined || !startedAt) return toTime(end)
  const bySecondsMs = Date.parse(end) - Date.parse(startedAt)
  const livedMs = Math.max(bySecondsMs - secondMs, Math.min(bySecondsMs + secondMs, Number(lifetime) * 10))
  return new Date(bornAt(pod, startedAt, toTime).getTime() + Math.max(0, livedMs))
}

/** Messages of the supervisor for a command that never began. */
const beforeCommand: ReadonlyMap<string, Part> = new Map<string, Part>([
  [
    'WORKDIR_NOT_FOUND',
    {
      kind: 'failed',
      reason: 'WORKDIR_NOT_FOUND',
      message: 'The workdir does not exist in the container; name a directory of the image, such as /',
    },
  ],
  ['NOT_TOGETHER', { kind: 'alone', info: 'Some pods of the run did not start within three hours' }],
  [
    'NO_DISPLAY',
    { kind: 'failed', reason: 'START_FAILED', message: 'The X11 display did not start within three hours' },
  ],
])

const codeOf = (exitCode: number) => ({ exitCode, signal: signalFromExitCode(exitCode) })

function meaningOfEnd(pod: Pod, { reason = '' }: Terminated): Meaning {
  const meaning = meaningOfPod(pod) ?? endReasons.get(reason)
  if (!meaning) throw new UnknownState(`The container of ${pod.metadata.name} ended for an unknown reason: ${reason}`)
  return meaning
}

function deletionOf({ metadata, status: { conditions } }: Pod): Gone | null {
  const disruption = conditions?.find(({ type, status }) => type === 'DisruptionTarget' && status === 'True')
  const isPreemption = preemptions.includes(disruption?.reason ?? '')
  if (disruption) return goneFor(isPreemption ? 'PREEMPTED' : 'GONE', disruption.message ?? 'Disrupted')
  return metadata.deletionTimestamp === undefined ? null : goneFor('GONE', 'The pod was deleted')
}

/**
 * true: the pod was deleted by Berth before its command began. The kubelet may begin the command meanwhile, and then
 * ends it.
 */
const isDeletedByStop = ({ metadata: { deletionTimestamp, annotations: given = {} } }: Pod): boolean =>
  deletionTimestamp !== undefined && given[annotations.stop] !== undefined

const isEndedByStop = (pod: Pod, { exitCode }: Terminated) => exitCode !== 0 && isDeletedByStop(pod)

/** Since version 1.27 the kubelet reports a deleted pod as failed before it is removed. */
const withdrawnOf = (pod: Pod): Over | null => (isDeletedByStop(pod) ? { kind: 'over', ended: endedBeforeStart } : null)

export const endedBeforeStart: Ended = { state: 'ended', ...codeOf(143), stopped: true }

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
      if (getContainerState(pod)?.waiting)
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
  if (deletion) return { kind: 'waits', info: 'The pod is being deleted' }
  if (spec.nodeName === undefined) {
    return { kind: 'waits', info: getScheduledCondition(pod)?.message ?? 'Waiting for the scheduler of the cluster' }
  }
  const { reason = 'ContainerCreating', message } = waiting
  const info = message ? `${reason}: ${message}` : (known.notices.get(metadata.uid) ?? `${reason} on ${spec.nodeName}`)
  const meaning = waitReasons.get(reason)
  const waitedMs = status.startTime === undefined ? 0 : known.nowMs - known.toTime(status.startTime).getTime()
  if (meaning === 'BAD_SPEC') return { kind: 'failed', reason: 'BAD_SPEC', message: info }
  if (meaning === 'NOT_STARTED' || (meaning === 'PULL' && waitedMs > pullMsMax))
    return { kind: 'failed', reason: 'START_FAILED', message: info }
  return { kind: 'waits', info }
}

export const getScheduledCondition = ({ status }: Pod) => status.conditions?.find(({ type }) => type === 'PodScheduled')

const isOutOfTime = ({ status }: Pod) => status.reason === 'DeadlineExceeded'

/** Margin for the time by which kubelets exceed the grace period and reports are delayed. */
const slackMs = 10_000

/**
 * Some kubelets (1.20) never report the end of a pod that exceeded its deadline. Such a pod counts as ended after its
 * grace period.
 */
function hasKubeletEndedPod(pod: Pod, { toTime, nowMs }: Surroundings): boolean {
  // Distributions use different names for the kubelet as a writer, so all writers count. A later write only extends the
  // wait.
  const writtenMs = (pod.metadata.managedFields ?? []).flatMap(({ time }) => (time ? [toTime(time).getTime()] : []))
  if (writtenMs.length === 0) return false
  const graceMs = (pod.spec.terminationGracePeriodSeconds ?? 0) * 1_000
  return nowMs > Math.max(...writtenMs) + graceMs + slackMs
}
