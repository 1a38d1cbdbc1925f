import { describe, expect, test } from 'vitest'
import { annotations } from '../../../src/executors/kubernetes/names.ts'
import type { Pod } from '../../../src/executors/kubernetes/objects.ts'
import { interpretPod } from '../../../src/executors/kubernetes/pod-state.ts'

const toldAt = '2026-01-01T01:00:00Z'

/** A pod of which the kubelet reported DeadlineExceeded, but never the end of its container. */
const pod: Pod = {
  metadata: {
    name: 'p',
    uid: 'uid',
    resourceVersion: '1',
    managedFields: [{ time: '2026-01-01T00:00:00Z' }, { time: toldAt }],
  },
  spec: { nodeName: 'n1', containers: [], terminationGracePeriodSeconds: 30 },
  status: {
    phase: 'Failed',
    reason: 'DeadlineExceeded',
    startTime: '2026-01-01T00:00:00Z',
    containerStatuses: [{ name: 'job', state: { running: { startedAt: '2026-01-01T00:00:01Z' } } }],
  },
}

const known = (seconds: number, unreachable: readonly string[] = []) => ({
  toTime: (iso: string) => new Date(iso),
  nowMs: Date.parse(toldAt) + seconds * 1_000,
  unreachable: new Set(unreachable),
  notices: new Map<string, string>(),
})

describe('the run time of a command in a pod', () => {
  const ended = (said: string, asked?: string): Pod => {
    const times = { startedAt: '2026-01-01T00:00:01Z', finishedAt: '2026-01-01T00:00:05Z' }
    const terminated = { exitCode: 143, reason: 'Error', message: said, ...times }
    return {
      ...pod,
      metadata: { ...pod.metadata, ...(asked && { annotations: { [annotations.asked]: asked } }) },
      status: { phase: 'Failed', containerStatuses: [{ name: 'job', state: { terminated } }] },
    }
  }
  const moment = (second: string) => new Date(`2026-01-01T00:00:${second}Z`)

  test.each([
    ['reports the run time with its reason', 'MAX_RUN_TIME\nRAN 425', '05.250'],
    ['reports the run time twice', 'RAN 310\nRAN 475', '05.750'],
    ['reports too short a run time, as a job could', 'RAN 0', '04.000'],
    ['reports too long a run time, as a job could', 'RAN 999999999999', '06.000'],
    ['reports an invalid run time', 'RAN -1', '05.000'],
    ['reports nothing', '', '05.000'],
  ])('lies within the times that the kubelet reports if the supervisor %s', (_, said, end) => {
    expect(interpretPod(ended(said), known(0))).toMatchObject({
      kind: 'over',
      ended: { startedAt: moment('01'), finishedAt: moment(end) },
    })
  })

  test('begins no earlier than the request for the pod, within the same second', () => {
    const running = { startedAt: '2026-01-01T00:00:01Z' }
    const asked = ended('RAN 425', '2026-01-01T00:00:01.400Z')
    const runs: Pod = {
      ...asked,
      status: { phase: 'Running', containerStatuses: [{ name: 'job', state: { running } }] },
    }
    expect(interpretPod(runs, known(0))).toEqual({ kind: 'runs', startedAt: moment('01.400') })
    expect(interpretPod(asked, known(0))).toMatchObject({
      ended: { startedAt: moment('01.400'), finishedAt: moment('05.650') },
    })
  })
})

describe('a terminated container whose end the kubelet never reports', () => {
  test('counts as running until its grace period is over', () => {
    expect(interpretPod(pod, known(39))).toMatchObject({ kind: 'runs' })
  })

  test('counts as ended after its grace period', () => {
    expect(interpretPod(pod, known(41))).toMatchObject({
      kind: 'over',
      ended: { exitCode: 137, cause: 'MAX_RUN_TIME' },
    })
  })

  test('keeps its state if its node is unreachable', () => {
    expect(interpretPod(pod, known(41, ['n1']))).toMatchObject({ kind: 'unreachable' })
  })

  test('keeps its state if the start of its termination is unknown', () => {
    const { managedFields: _, ...metadata } = pod.metadata
    expect(interpretPod({ ...pod, metadata }, known(41))).toMatchObject({ kind: 'runs' })
  })
})
