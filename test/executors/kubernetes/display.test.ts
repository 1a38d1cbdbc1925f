import { describe, expect, it } from 'vitest'
import { podLabels } from '../../../src/executors/kubernetes/names.ts'
import type { ContainerStatus, Pod } from '../../../src/executors/kubernetes/objects.ts'
import { observeRun } from '../../../src/executors/kubernetes/observation.ts'
import { makePod as describedPod } from '../../../src/executors/kubernetes/pod.ts'
import { interpretPod, type Surroundings } from '../../../src/executors/kubernetes/pod-state.ts'
import { displayScript } from '../../../src/executors/process/display.ts'
import { makeRun } from '../runs.ts'

/** Pods of jobs with an X11 display, and the states of displays. */

const known: Surroundings = {
  toTime: (iso) => new Date(iso),
  nowMs: Date.parse('2026-01-01T01:00:00Z'),
  unreachable: new Set(),
  notices: new Map(),
}

type State = NonNullable<ContainerStatus['state']>

const running: State = { running: { startedAt: '2026-01-01T00:00:01Z' } }
const ended = (exitCode: number, reason: string, message = ''): State => ({
  terminated: { exitCode, reason, message, startedAt: '2026-01-01T00:00:05Z', finishedAt: '2026-01-01T00:00:09Z' },
})
const over: State = {
  terminated: { exitCode: 3, reason: 'Error', startedAt: '2026-01-01T00:00:01Z', finishedAt: '2026-01-01T00:00:08Z' },
}

function seen(job: State, display: Omit<ContainerStatus, 'name'> | null, startTime = '2026-01-01T00:59:00Z') {
  const pod: Pod = {
    metadata: { name: 'p', uid: 'u', resourceVersion: '1', labels: { [podLabels.replica]: '0' } },
    spec: { nodeName: 'n1', containers: [{ name: 'job' }, { name: 'display' }] },
    status: {
      phase: 'Running',
      startTime,
      containerStatuses: [{ name: 'job', state: job }, ...(display ? [{ name: 'display', ...display }] : [])],
    },
  }
  return observeRun([interpretPod(pod, known)], { pods: [pod], replicas: 1, nativeId: 'p' })
}

const later: State = { running: { startedAt: '2026-01-01T00:00:05Z' } }
const pulling = (reason: string) => ({ state: { waiting: { reason, message: 'no such image' } } })
const notStarted = 'The X11 display did not start:'

describe('a job with a display that', () => {
  it.each<[string, Parameters<typeof seen>, object]>([
    ['is not reported yet', [running, null], { state: 'starting' }],
    [
      'is starting',
      [running, { started: false, state: later }],
      { state: 'starting', info: expect.stringContaining('The X11 display is starting') },
    ],
    [
      'has no image yet',
      [running, pulling('ImagePullBackOff')],
      { state: 'starting', info: 'ImagePullBackOff: no such image' },
    ],
    [
      'has had no image for a long time',
      [running, pulling('ImagePullBackOff'), '2026-01-01T00:00:00Z'],
      {
        state: 'failed',
        reason: 'START_FAILED',
        message: 'The X11 display cannot start: ImagePullBackOff: no such image',
      },
    ],
    ['has a wrong image', [running, pulling('InvalidImageName')], { state: 'failed', reason: 'START_FAILED' }],
    [
      'answers',
      [running, { started: true, state: later }],
      { state: 'running', startedAt: new Date('2026-01-01T00:00:05Z') },
    ],
    [
      'ended before it was ready',
      [running, { state: ended(127, 'Error', 'sh: Xvfb: not found\n') }],
      { state: 'failed', reason: 'START_FAILED', message: `${notStarted} Error (exit code 127): sh: Xvfb: not found` },
    ],
    [
      'was never ready, so the kubelet ended it',
      [running, { state: ended(143, 'Error') }],
      { state: 'failed', message: `${notStarted} Error (exit code 143)` },
    ],
    ['is lost while it runs', [running, { state: ended(137, 'OOMKilled', 'READY\n') }], { state: 'running' }],
    [
      'was lost before it ended',
      [over, { state: ended(137, 'OOMKilled', 'READY\n') }],
      { state: 'ended', exitCode: 3, info: 'The X11 display ended before the job: it needed more than 512 MiB' },
    ],
    [
      'failed before it ended',
      [over, { state: ended(1, 'Error', 'READY\n') }],
      { info: 'The X11 display ended before the job: exit code 1' },
    ],
    [
      'ended with it',
      [over, { state: ended(0, 'Completed', 'READY\n') }],
      { state: 'ended', startedAt: new Date('2026-01-01T00:00:05Z') },
    ],
  ])('%s has the expected state', (_, [...given], expected) => {
    expect(seen(...given)).toMatchObject(expected)
  })

  it('ended with the job or still runs has no message about the display', () => {
    for (const state of [ended(0, 'Completed', 'READY\n'), later]) {
      expect(seen(over, { state })).not.toHaveProperty('info')
      expect(seen(over, { state })).not.toHaveProperty('cause')
    }
  })

  it('never started ends with START_FAILED', () => {
    const job: State = { terminated: { exitCode: 143, reason: 'Error', message: 'NO_DISPLAY\n' } }
    expect(seen(job, pulling('ImagePullBackOff'))).toMatchObject({ state: 'failed', reason: 'START_FAILED' })
  })
})

describe('the pod of a job with a display', () => {
  const described = (gpu: boolean) => {
    const secret = { metadata: { name: 's', uid: 'u', resourceVersion: '1' } }
    const made = { owner: 'us', image: 'i', x11Image: 'x', imagePullSecrets: [] }
    return describedPod({ ...made, run: makeRun({ x11: { gpu } }), secret, mounts: [], nodes: [], nowMs: 0 }, 0)
  }

  it('has a second container without requests and capabilities, and one folder that both share', () => {
    expect(described(false)).toMatchObject({
      spec: {
        volumes: expect.arrayContaining([{ name: 'display', emptyDir: {} }]),
        containers: [
          {
            name: 'job',
            command: expect.arrayContaining(['/tmp/.X11-unix/berth']),
            volumeMounts: expect.arrayContaining([{ name: 'display', mountPath: '/tmp/.X11-unix', readOnly: true }]),
          },
          {
            name: 'display',
            image: 'x',
            resources: { requests: { cpu: '0', memory: '0' }, limits: { cpu: '1000m', memory: '512Mi' } },
            securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
            env: [{ name: 'NVIDIA_VISIBLE_DEVICES', value: 'void' }],
            volumeMounts: [{ name: 'display', mountPath: '/tmp/.X11-unix', readOnly: false }],
          },
        ],
      },
    })
  })

  it('contains the script of the display, escaped for the kubelet', () => {
    const { spec } = described(false) as { spec: { containers: { command: string[] }[] } }
    expect(spec.containers[1]?.command[2]?.replaceAll('$$', () => '$')).toBe(displayScript)
    expect(displayScript).toContain('$$')
  })

  it('gives a display on a GPU all GPUs of the node, and the id of the GPU of the job', () => {
    const { spec } = described(true) as { spec: { containers: { command: string[]; env: object[] }[] } }
    const display = spec.containers[1]
    expect(display?.command.at(-1)).toBe('TOLD')
    expect(display?.env).toContainEqual({ name: 'NVIDIA_VISIBLE_DEVICES', value: 'all' })
    expect(display).not.toHaveProperty('securityContext.capabilities')
  })
})
