import { describe, expect, it } from 'vitest'
import { findAddressToBegin, mustEndTogether } from '../../../src/executors/kubernetes/gang.ts'
import { annotations, podLabels } from '../../../src/executors/kubernetes/names.ts'
import type { Pod } from '../../../src/executors/kubernetes/objects.ts'
import { observeRun } from '../../../src/executors/kubernetes/observation.ts'
import { interpretPod, type Part, type Surroundings } from '../../../src/executors/kubernetes/pod-state.ts'

/** Interpretation of pods, alone and together. */

const known: Surroundings = {
  toTime: (iso) => new Date(iso),
  nowMs: Date.parse('2026-01-01T00:00:30Z'),
  unreachable: new Set(['dark']),
  notices: new Map([['uid', 'Pulling image "x"']]),
}

type Status = Pod['status']
type State = NonNullable<NonNullable<Status['containerStatuses']>[number]['state']>

function makePod(status: Status, { state, ...spec }: Partial<Pod['spec']> & { state?: State } = {}): Pod {
  return {
    metadata: { name: 'p', uid: 'uid', resourceVersion: '1' },
    spec: { nodeName: 'n1', containers: [], ...spec },
    status: { ...status, ...(state && { containerStatuses: [{ name: 'job', state }] }) },
  }
}

const terminated = (exitCode: number, reason = exitCode === 0 ? 'Completed' : 'Error', message = '') => ({
  state: { terminated: { exitCode, reason, message, finishedAt: '2026-01-01T00:00:02Z' } },
})
const seen = (pod: Pod, replicas = 1) =>
  observeRun([interpretPod(pod, known)], { pods: [pod], replicas, nativeId: 'p' })

describe('the state of a run', () => {
  it.each<[string, Pod, object]>([
    [
      'not scheduled',
      makePod(
        { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', message: '0/1 nodes' }] },
        { nodeName: undefined as never },
      ),
      { state: 'starting', info: '0/1 nodes' },
    ],
    [
      'pulling',
      makePod({ phase: 'Pending' }, { state: { waiting: { reason: 'ContainerCreating' } } }),
      { state: 'starting', info: 'Pulling image "x"' },
    ],
    [
      'fetching its snapshot',
      makePod(
        { phase: 'Pending', initContainerStatuses: [{ name: 'fetch', state: { running: { startedAt: '' } } }] },
        { state: { waiting: { reason: 'PodInitializing' } } },
      ),
      { state: 'starting', info: 'Snapshot: being fetched' },
    ],
    [
      'pulling the image that fetches its snapshot',
      makePod(
        {
          phase: 'Pending',
          initContainerStatuses: [{ name: 'fetch', state: { waiting: { reason: 'ErrImagePull', message: 'none' } } }],
        },
        { state: { waiting: { reason: 'PodInitializing' } } },
      ),
      { state: 'starting', info: 'ErrImagePull: none' },
    ],
    [
      'without its snapshot',
      makePod(
        {
          phase: 'Failed',
          initContainerStatuses: [{ name: 'fetch', ...terminated(1, 'Error', 'its image has no curl') }],
        },
        { state: { waiting: { reason: 'PodInitializing' } } },
      ),
      { state: 'failed', reason: 'START_FAILED', message: 'The snapshot cannot be fetched: its image has no curl' },
    ],
    [
      'backing off',
      makePod({ phase: 'Pending' }, { state: { waiting: { reason: 'ImagePullBackOff', message: 'no such image' } } }),
      { state: 'starting', info: 'ImagePullBackOff: no such image' },
    ],
    [
      'backing off for a long time',
      makePod(
        { phase: 'Pending', startTime: '2025-12-31T00:00:00Z' },
        { state: { waiting: { reason: 'ErrImagePull' } } },
      ),
      { state: 'failed', reason: 'START_FAILED' },
    ],
    [
      'a wrong image',
      makePod({ phase: 'Pending' }, { state: { waiting: { reason: 'InvalidImageName' } } }),
      { state: 'failed', reason: 'BAD_SPEC' },
    ],
    [
      'running',
      makePod({ phase: 'Running', podIP: '10.0.0.1' }, { state: { running: { startedAt: '2026-01-01T00:00:01Z' } } }),
      { state: 'running', ip: '10.0.0.1', placements: [{ node: 'n1', gpuIds: [] }] },
    ],
    [
      'on an unreachable node',
      makePod({ phase: 'Running' }, { nodeName: 'dark', state: { running: { startedAt: '2026-01-01T00:00:01Z' } } }),
      { state: 'unreachable' },
    ],
    ['unknown to its node', makePod({ phase: 'Unknown' }), { state: 'unreachable' }],
    [
      'ended',
      makePod({ phase: 'Succeeded' }, terminated(0)),
      { state: 'ended', exitCode: 0, signal: null, stopped: false },
    ],
    ['ended before the phase says so', makePod({ phase: 'Running' }, terminated(7)), { state: 'ended', exitCode: 7 }],
    [
      'stopped',
      makePod({ phase: 'Failed' }, terminated(143, 'Error', 'STOPPED\n')),
      { state: 'ended', exitCode: 143, signal: 15, stopped: true },
    ],
    [
      'out of memory',
      makePod({ phase: 'Failed' }, terminated(137, 'OOMKilled')),
      { state: 'ended', cause: 'OOM_KILLED' },
    ],
    [
      'out of time by its supervisor',
      makePod({ phase: 'Failed' }, terminated(143, 'Error', 'MAX_RUN_TIME\n')),
      { state: 'ended', cause: 'MAX_RUN_TIME' },
    ],
    [
      'out of time by the kubelet',
      makePod({ phase: 'Failed', reason: 'DeadlineExceeded' }),
      { state: 'ended', exitCode: 137, cause: 'MAX_RUN_TIME' },
    ],
    [
      'out of time by the kubelet, which has not ended it yet',
      makePod(
        { phase: 'Failed', reason: 'DeadlineExceeded' },
        { state: { running: { startedAt: '2026-01-01T00:00:01Z' } } },
      ),
      { state: 'running' },
    ],
    [
      'out of time by the kubelet on a node that became unreachable',
      makePod(
        { phase: 'Failed', reason: 'DeadlineExceeded' },
        { nodeName: 'dark', state: { running: { startedAt: '2026-01-01T00:00:01Z' } } },
      ),
      { state: 'unreachable' },
    ],
    [
      'out of time before its command began',
      makePod({ phase: 'Failed', reason: 'DeadlineExceeded' }, { state: { waiting: { reason: 'ContainerCreating' } } }),
      { state: 'failed', reason: 'START_FAILED' },
    ],
    [
      'without its directory',
      makePod({ phase: 'Failed' }, terminated(126, 'Error', 'WORKDIR_NOT_FOUND\n')),
      { state: 'failed', reason: 'WORKDIR_NOT_FOUND' },
    ],
    [
      'without a shell',
      makePod({ phase: 'Failed' }, terminated(128, 'StartError', 'no /bin/sh')),
      { state: 'failed', reason: 'BAD_SPEC' },
    ],
    [
      'evicted',
      makePod({ phase: 'Failed', reason: 'Evicted', message: 'low on memory' }),
      { state: 'gone', info: 'Evicted: low on memory' },
    ],
    ...[
      'Pod ephemeral local storage usage exceeds the total limit of containers 10Mi. ',
      'Container job exceeded its local ephemeral storage limit "10Mi". ',
      'Usage of EmptyDir volume "display" exceeds the limit "1Mi". ',
    ].flatMap((message): [string, Pod, object][] => {
      const status = { phase: 'Failed', reason: 'Evicted', message }
      const expected = { state: 'ended', exitCode: 137, info: expect.stringContaining(message) }
      return [
        [`over its storage: ${message}`, makePod(status), expected],
        [`over its storage, with its container: ${message}`, makePod(status, terminated(137)), expected],
      ]
    }),
    [
      'evicted for others, with the words of 1.20',
      makePod({
        phase: 'Failed',
        reason: 'Evicted',
        message:
          'The node was low on resource: memory. Container job was using 60Mi, which exceeds its request of 50Mi. ',
      }),
      { state: 'gone' },
    ],
    [
      'preempted',
      makePod(
        {
          phase: 'Failed',
          conditions: [{ type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' }],
        },
        terminated(143),
      ),
      { state: 'gone', cause: 'PREEMPTED' },
    ],
    ...['OutOfcpu', 'OutOfnvidia.com/gpu', 'OutOfephemeral-storage', 'TopologyAffinityError', 'TaintToleration'].map(
      (reason): [string, Pod, object] => [
        `refused by its node: ${reason}`,
        makePod({ phase: 'Failed', reason, message: 'Pod was rejected' }),
        { state: 'failed', reason: 'START_FAILED', message: `${reason}: Pod was rejected` },
      ],
    ),
  ])('is reported for a pod that is %s', (_, pod, expected) => expect(seen(pod)).toMatchObject(expected))

  it('is gone if another program deletes its pod, unless its command succeeded', () => {
    const deleted = (pod: Pod): Pod => ({
      ...pod,
      metadata: { ...pod.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
    })
    expect(seen(deleted(makePod({ phase: 'Failed' }, terminated(143))))).toMatchObject({ state: 'gone' })
    expect(seen(deleted(makePod({ phase: 'Succeeded' }, terminated(0))))).toMatchObject({ state: 'ended' })
    expect(seen(deleted(makePod({ phase: 'Failed' }, terminated(143, 'Error', 'STOPPED'))))).toMatchObject({
      stopped: true,
    })
  })

  it('is stopped if a stop request deletes its pod, even if the container has begun meanwhile', () => {
    const stopped = (pod: Pod): Pod => ({
      ...pod,
      metadata: {
        ...pod.metadata,
        deletionTimestamp: '2026-01-01T00:00:00Z',
        annotations: { [annotations.stop]: '5000' },
      },
    })
    const { state } = terminated(143)
    const began = { state: { terminated: { ...state.terminated, startedAt: '2026-01-01T00:00:01Z' } } }
    const end = { state: 'ended', exitCode: 143, stopped: true }
    expect(seen(stopped(makePod({ phase: 'Failed' }, began)))).toMatchObject(end)
    expect(seen(stopped(makePod({ phase: 'Failed' }, terminated(128, 'StartError', 'killed'))))).toMatchObject(end)
  })

  // Since version 1.27, these times are null.
  const unlocated = {
    state: { terminated: { exitCode: 137, reason: 'ContainerStatusUnknown', startedAt: null, finishedAt: null } },
  }
  const conditions = (reason: string) => [{ type: 'DisruptionTarget', status: 'True' as const, reason }]
  it.each<[string, Pod]>([
    ['shown as not located', makePod({ phase: 'Failed' }, unlocated)],
    ['shown as waiting', makePod({ phase: 'Failed' }, { state: { waiting: { reason: 'PodInitializing' } } })],
    ['shown without containers', makePod({ phase: 'Failed' })],
  ])('whose pod was deleted before it began and is %s is stopped by its stop request, or gone', (_, pod) => {
    const metadata = { ...pod.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' }
    const stopped = { ...metadata, annotations: { [annotations.stop]: '0' } }
    expect(seen({ ...pod, metadata: stopped })).toMatchObject({ state: 'ended', exitCode: 143, stopped: true })
    expect(seen({ ...pod, metadata })).toMatchObject({ state: 'gone' })
    const preempted = { ...pod, metadata, status: { ...pod.status, conditions: conditions('PreemptionByScheduler') } }
    expect(seen(preempted)).toMatchObject({ state: 'gone', cause: 'PREEMPTED' })
  })

  it('is gone if the node of its pod was deleted, even if the container seems to run', () => {
    const state = { running: { startedAt: '2026-01-01T00:00:01Z' } }
    const orphan = makePod({ phase: 'Failed', conditions: conditions('DeletionByPodGC') }, { state })
    expect(seen(orphan)).toMatchObject({ state: 'gone' })
  })

  it('is preempted if the kubelet ends its pod in favour of a critical pod', () => {
    const status = { phase: 'Failed', reason: 'Preempting', conditions: conditions('TerminationByKubelet') }
    expect(seen(makePod(status, terminated(137)))).toMatchObject({ state: 'gone', cause: 'PREEMPTED' })
  })

  it.each([
    makePod({ phase: 'Melted' }),
    makePod({ phase: 'Failed', reason: 'Melted' }),
    makePod({ phase: 'Failed' }, terminated(1, 'Melted')),
  ])('is an error if its pod has an unknown phase', (pod) => expect(() => interpretPod(pod, known)).toThrow(/unknown/))

  it('combines the states of its replicas: the first failure decides, and a missing pod means that the run is gone', () => {
    const begun = makePod({})
    const pods = [{ ...begun, metadata: { ...begun.metadata, annotations: { [annotations.begin]: '10.0.0.1' } } }]
    const over = (exitCode: number, second: number, stopped = false): Part => ({
      kind: 'over',
      ended: { state: 'ended', exitCode, signal: null, stopped, finishedAt: new Date(`2026-01-01T00:00:0${second}Z`) },
    })
    const all = (parts: Part[], replicas = parts.length) => observeRun(parts, { pods, replicas, nativeId: 'p' })
    expect(all([over(0, 1), over(0, 2)])).toMatchObject({ state: 'ended', exitCode: 0 })
    expect(all([over(143, 1, true), over(3, 2), over(4, 3)])).toMatchObject({ exitCode: 3, stopped: false })
    expect(all([over(0, 1), { kind: 'waits' }])).toMatchObject({ state: 'starting' })
    expect(all([over(0, 1), { kind: 'runs', startedAt: new Date(0) }])).toMatchObject({ state: 'running' })
    expect(all([over(0, 1)], 2)).toMatchObject({ state: 'gone' })
  })

  it('is running once all replicas began; a lost or failed pod ends the others first', () => {
    const runs: Part = { kind: 'runs', startedAt: new Date(0) }
    const failed: Part = { kind: 'failed', reason: 'BAD_SPEC', message: 'no such image' }
    const waits: Part = { kind: 'waits', info: '0/1 nodes' }
    const pod = makePod({ podIP: '10.0.0.1' })
    const first = { ...pod, metadata: { ...pod.metadata, labels: { [podLabels.replica]: '0' } } }
    const told = { ...first, metadata: { ...first.metadata, annotations: { [annotations.begin]: '10.0.0.1' } } }
    const of = (parts: Part[], pods: Pod[], replicas = 2) => observeRun(parts, { pods, replicas, nativeId: 'p' })
    expect(findAddressToBegin([runs, waits], { pods: [first], replicas: 2 })).toBeNull()
    expect(findAddressToBegin([runs, runs], { pods: [first], replicas: 2 })).toBe('10.0.0.1')
    expect(findAddressToBegin([runs], { pods: [first], replicas: 1 })).toBeNull()
    expect(of([runs, runs], [first])).toMatchObject({ state: 'starting' })
    expect(of([runs, runs], [told])).toMatchObject({ state: 'running' })
    const mustEnd = (parts: Part[], pod: Pod) => mustEndTogether(parts, { pods: [pod], replicas: 2 })
    expect(mustEnd([runs, failed], first)).toBe(true)
    expect(mustEnd([runs, waits], first)).toBe(false)
    expect(mustEnd([waits], told)).toBe(true)
    expect(of([runs, failed], [first])).toMatchObject({ state: 'starting', info: 'no such image' })
    expect(of([runs], [told])).toMatchObject({ state: 'running' })
    expect(of([failed, failed], [first])).toMatchObject({ state: 'failed', reason: 'BAD_SPEC' })
  })

  it('is stopped if its replicas were stopped before they began, even if a waiting pod is removed', () => {
    const over: Part = { kind: 'over', ended: { state: 'ended', exitCode: 143, signal: 15, stopped: true } }
    const runs: Part = { kind: 'runs', startedAt: new Date(0) }
    const pod = makePod({})
    const stopped = { ...pod, metadata: { ...pod.metadata, annotations: { [annotations.stopRun]: 'yes' } } }
    const of = (part: Part, one: Pod) => observeRun([part], { pods: [one], replicas: 2, nativeId: 'p' })
    expect(of(runs, stopped)).toMatchObject({ state: 'starting' })
    expect(of(over, stopped)).toMatchObject({ state: 'ended', stopped: true })
    expect(of(over, pod)).toMatchObject({ state: 'gone' })
  })

  const failed: Part = { kind: 'failed', reason: 'BAD_SPEC', message: 'no such image' }
  const gone: Part = { kind: 'gone', info: 'drained' }
  const waits: Part = { kind: 'waits' }
  it.each<[string, Part[], object]>([
    ['waits, failed', [waits, failed], { state: 'failed', reason: 'BAD_SPEC', message: 'no such image' }],
    ['failed, waits', [failed, waits], { state: 'failed', reason: 'BAD_SPEC', message: 'no such image' }],
    ['waits, gone', [waits, gone], { state: 'gone', info: 'drained' }],
    ['waits, deleted', [waits], { state: 'gone', info: 'A pod was deleted' }],
  ])('is final if a replica cannot begin, without waiting for the others: %s', (_, parts, expected) => {
    const pod = makePod({})
    const stopped = { ...pod, metadata: { ...pod.metadata, annotations: { [annotations.stop]: '0' } } }
    expect(mustEndTogether(parts, { pods: [pod], replicas: 2 })).toBe(false)
    expect(observeRun(parts, { pods: [pod], replicas: 2, nativeId: 'p' })).toMatchObject(expected)
    expect(mustEndTogether(parts, { pods: [stopped], replicas: 2 })).toBe(true)
    expect(observeRun(parts, { pods: [stopped], replicas: 2, nativeId: 'p' })).toMatchObject({ state: 'starting' })
  })
})
