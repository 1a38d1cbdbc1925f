import { describe, expect, test } from 'vitest'
import type { Pod } from '../../src/executors/kubernetes/objects.ts'
import { partOf } from '../../src/executors/kubernetes/part.ts'

const toldAt = '2026-01-01T01:00:00Z'

/** The kubelet has said that it is out of time, and never said that its container ended. */
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

const known = (seconds: number, silent: readonly string[] = []) => ({
  toTime: (iso: string) => new Date(iso),
  nowMs: Date.parse(toldAt) + seconds * 1_000,
  silent: new Set(silent),
  doing: new Map<string, string>(),
})

describe('a container of which the kubelet never says that it ended', () => {
  test('runs while it may still be ended', () => {
    expect(partOf(pod, known(39))).toMatchObject({ kind: 'runs' })
  })

  test('is over after its grace', () => {
    expect(partOf(pod, known(41))).toMatchObject({ kind: 'over', ended: { exitCode: 137, cause: 'MAX_RUN_TIME' } })
  })

  test('is not over on a node that does not answer', () => {
    expect(partOf(pod, known(41, ['n1']))).toMatchObject({ kind: 'unreachable' })
  })

  test('is not over when it is not known since when it should end', () => {
    const { managedFields: _, ...metadata } = pod.metadata
    expect(partOf({ ...pod, metadata }, known(41))).toMatchObject({ kind: 'runs' })
  })
})
