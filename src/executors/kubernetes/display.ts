import type { JobSpec } from '../../domain/spec.ts'
import {
  describeDisplayEnd,
  describeDisplayFailure,
  describeLostDisplay,
  displayCapabilities,
  displayLimits,
  displayPipe,
  displayScript,
  displaySecondsMax,
  requireDisplayImage,
  xSocketFolder,
} from '../process/display.ts'
import type { ContainerStatus, Pod } from './objects.ts'

/**
 * The X11 display of a pod (../process/display.ts) runs in a second container. The container requests no resources, so
 * the pod fits wherever its job fits. The job waits for the display, because only newer clusters can start one
 * container before another.
 */

const displayName = 'display'
/** The script with `$` doubled: the kubelet replaces `$$` by `$`. */
const script = displayScript.replaceAll('$$', () => '$$$$')
/** display.sh writes this into the termination message when the display is ready. */
const ready = 'READY'

export const displayVolume = {
  volume: { name: displayName, emptyDir: {} },
  mount: { name: displayName, mountPath: xSocketFolder, readOnly: true },
}

export function makeDisplayContainer({ gpu }: NonNullable<JobSpec['x11']>, image: string | undefined): unknown {
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
/**
 * Lets the display see all GPUs of the node: a pod can give its own GPUs to one container only. The display gets the id
 * of the GPU to use.
 */
const withAllGpus = [
  { name: visible, value: 'all' },
  { name: 'NVIDIA_DRIVER_CAPABILITIES', value: displayCapabilities.join() },
]

/** Returns undefined if the pod has no display, or the kubelet did not report it yet. */
const statusOf = ({ status }: Pod): ContainerStatus | undefined =>
  status.containerStatuses?.find(({ name }) => name === displayName)

type DisplayState =
  | { kind: 'up'; startedAt: string | null }
  | { kind: 'waits'; waiting: { reason?: string; message?: string } }
  | { kind: 'failed'; message: string }

export function getDisplayState(pod: Pod): DisplayState | null {
  if (!pod.spec.containers.some(({ name }) => name === displayName)) return null
  const { started, state: { running, terminated, waiting = {} } = {} } = statusOf(pod) ?? {}
  const wasReady = terminated?.message?.startsWith(ready) === true
  if (wasReady || (running && started)) return { kind: 'up', startedAt: (running ?? terminated)?.startedAt ?? null }
  if (!terminated) return { kind: 'waits', waiting: running ? { reason: 'The X11 display is starting' } : waiting }
  const { reason = '', message = '', exitCode } = terminated
  const why = [`${reason} (exit code ${exitCode})`, message.trim()].filter((each) => each !== '').join(': ')
  return { kind: 'failed', message: describeDisplayFailure(why) }
}

/** Explains to the user that an ended run lost its display; null: it did not. */
export function explainDisplayLoss(pod: Pod): string | null {
  const ended = statusOf(pod)?.state?.terminated
  if (!ended || ended.exitCode === 0) return null
  return describeLostDisplay(describeDisplayEnd(ended.exitCode, ended.reason === 'OOMKilled'))
}
