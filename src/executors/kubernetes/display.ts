import type { JobSpec } from '../../domain/spec.ts'
import {
  describeDisplayEnd,
  describeDisplayFailure,
  describeLostDisplay,
  displayCapabilities,
  displayFolder,
  displayLimits,
  displayPipe,
  displayScript,
  displaySecondsMax,
  requireDisplayImage,
} from '../process/display.ts'
import type { ContainerStatus, Pod } from './objects.ts'

/**
 * The X11 display of a pod (../process/display.ts): a second container, which shares the folder of the socket with that of the
 * job. It requests nothing of the node, so a pod needs no more room than its job, and takes its processor time from the
 * share of the pod when the node is busy. A sidecar of newer clusters (an init container that restarts) would start it
 * first; here the job waits for it, which all versions can do.
 */

const displayName = 'display'
/** The kubelet makes one `$` of two. */
const script = displayScript.replaceAll('$$', () => '$$$$')
/** What display.sh writes into the termination message when the display answers. */
const ready = 'READY'

export const displayVolume = {
  volume: { name: displayName, emptyDir: {} },
  mount: { name: displayName, mountPath: displayFolder, readOnly: true },
}

export function displayContainerOf({ gpu }: NonNullable<JobSpec['x11']>, image: string | undefined): unknown {
  const { cpuMillis, memoryMib } = displayLimits
  return {
    name: displayName,
    image: requireDisplayImage('kubernetes', image),
    command: ['/bin/sh', '-c', script, 'berth', gpu ? 'TOLD' : ''],
    env: gpu ? withAllGpus : [{ name: visible, value: 'void' }],
    resources: { requests: { cpu: '0', memory: '0' }, limits: { cpu: `${cpuMillis}m`, memory: `${memoryMib}Mi` } },
    securityContext: { allowPrivilegeEscalation: false, ...(!gpu && { capabilities: { drop: ['ALL'] } }) },
    startupProbe: {
      exec: { command: ['/bin/sh', '-c', `test -p ${displayPipe}`] },
      periodSeconds: 1,
      timeoutSeconds: 5,
      failureThreshold: displaySecondsMax,
    },
    terminationMessagePolicy: 'FallbackToLogsOnError',
    volumeMounts: [{ ...displayVolume.mount, readOnly: false }],
  }
}

const visible = 'NVIDIA_VISIBLE_DEVICES'
/** The GPUs that the pod requests go to one container, so the display sees all of the node, and is told which one to use. */
const withAllGpus = [
  { name: visible, value: 'all' },
  { name: 'NVIDIA_DRIVER_CAPABILITIES', value: displayCapabilities.join() },
]

/** undefined: the pod has no display, or its node has not told of it yet. */
const statusOf = ({ status }: Pod): ContainerStatus | undefined =>
  status.containerStatuses?.find(({ name }) => name === displayName)

export type DisplayState =
  /** It answers, or did. */
  | { kind: 'up'; startedAt: string | null }
  | { kind: 'waits'; waiting: { reason?: string; message?: string } }
  | { kind: 'failed'; message: string }

/** null: the pod has none. */
export function displayOf(pod: Pod): DisplayState | null {
  if (!pod.spec.containers.some(({ name }) => name === displayName)) return null
  const { started, state: { running, terminated, waiting = {} } = {} } = statusOf(pod) ?? {}
  const wasReady = terminated?.message?.startsWith(ready) === true
  if (wasReady || (running && started)) return { kind: 'up', startedAt: (running ?? terminated)?.startedAt ?? null }
  if (!terminated) return { kind: 'waits', waiting: running ? { reason: 'Its X11 display is starting' } : waiting }
  const { reason = '', message = '', exitCode } = terminated
  const why = [`${reason} (exit code ${exitCode})`, message.trim()].filter((each) => each !== '').join(': ')
  return { kind: 'failed', message: describeDisplayFailure(why) }
}

/** What the user of a run that is over should know of its display; null: nothing. */
export function displayLossOf(pod: Pod): string | null {
  const ended = statusOf(pod)?.state?.terminated
  if (!ended || ended.exitCode === 0) return null
  return describeLostDisplay(describeDisplayEnd(ended.exitCode, ended.reason === 'OOMKilled'))
}
