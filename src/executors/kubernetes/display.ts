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
 * The X11 display of a pod (../process/display.ts): a second container. It requests no resources, so a pod needs no more
 * room than its job. The job waits for the display: only newer clusters could start it first.
 */

const displayName = 'display'
/** The kubelet replaces `$$` by `$`. */
const script = displayScript.replaceAll('$$', () => '$$$$')
/** Written by display.sh into the termination message when the display is ready. */
const ready = 'READY'

export const displayVolume = {
  volume: { name: displayName, emptyDir: {} },
  mount: { name: displayName, mountPath: displayFolder, readOnly: true },
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
/** A pod has its GPUs in one container only, so the display sees all GPUs of the node and gets the id of the one to use. */
const withAllGpus = [
  { name: visible, value: 'all' },
  { name: 'NVIDIA_DRIVER_CAPABILITIES', value: displayCapabilities.join() },
]

/** undefined: the pod has no display, or its node has not reported it yet. */
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

/** Information for the user of an ended run whose display was lost; null: it was not lost. */
export function explainDisplayLoss(pod: Pod): string | null {
  const ended = statusOf(pod)?.state?.terminated
  if (!ended || ended.exitCode === 0) return null
  return describeLostDisplay(describeDisplayEnd(ended.exitCode, ended.reason === 'OOMKilled'))
}
