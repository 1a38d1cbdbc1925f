import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Executor } from '../../src/executors/executor.ts'
import { createKubernetesExecutor } from '../../src/executors/kubernetes/kubernetes.ts'
import { annotations, podLabels } from '../../src/executors/kubernetes/names.ts'
import type { Pod } from '../../src/executors/kubernetes/objects.ts'
import { createLog } from '../../src/platform/log.ts'
import { machineTime } from '../support/clock.ts'
import { type ClusterServer, fastClock, startClusterServer } from './cluster-server.ts'
import { observe } from './runs.ts'

/** What the executor kubernetes concludes from the objects of a cluster, by an API server that a test fills. */

let directory: string
let server: ClusterServer
let executor: Executor

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'berth-inspect-'))
  server = await startClusterServer(directory)
  executor = await createKubernetesExecutor({
    kubeconfig: server.kubeconfig,
    installation: 'test',
    environment: {},
    image: 'i',
    dataRoots: {},
    clock: fastClock(1),
    time: machineTime,
    log: createLog('warn'),
  })
})
afterEach(async () => {
  await executor.close()
  await server.close()
  await rm(directory, { recursive: true })
})

const handle = 'berth-run-1'
type Status = Pod['status']
type State = NonNullable<NonNullable<Status['containerStatuses']>[number]['state']>

function podOf(
  state: State,
  { replica = 0, replicas = 1, ...more }: Partial<Status> & { replica?: number; replicas?: number } = {},
): Pod {
  const labels = {
    [podLabels.handle]: handle,
    [podLabels.replica]: String(replica),
    [podLabels.replicas]: String(replicas),
  }
  return {
    metadata: { name: `${handle}-${replica}`, uid: `u${replica}`, resourceVersion: '1', labels },
    spec: { nodeName: 'n1', containers: [] },
    status: { phase: 'Pending', containerStatuses: [{ name: 'job', state }], ...more },
  }
}

const node = (ready: 'True' | 'False' | 'Unknown') => ({
  metadata: { name: 'n1' },
  spec: {},
  status: { conditions: [{ type: 'Ready', status: ready }] },
})
const waiting: State = { waiting: { reason: 'ContainerCreating' } }

test('a pod that waits on a node that does not answer is unreachable, and not starting for ever', async () => {
  server.items['pods'] = [podOf(waiting)]
  server.items['nodes'] = [node('Unknown')]
  expect(await observe(executor, handle)).toMatchObject({ state: 'unreachable', info: 'Node n1 does not answer' })
})

test.each([
  ['Unknown', 30],
  ['True', 0],
] as const)(
  'a pod without an image, whose node is ready: %s, is deleted with a grace of %i s',
  async (ready, grace) => {
    const pod = podOf({ waiting: { reason: 'ImagePullBackOff' } })
    server.items['pods'] = [pod]
    server.items['nodes'] = [node(ready)]
    const deleted: unknown[] = []
    server.answers = (request, response) => {
      const isPod = request.url?.endsWith(`pods/${pod.metadata.name}`)
      if (!isPod || request.method === 'PATCH') return false
      if (request.method === 'DELETE')
        void json(request).then((body) => {
          deleted.push(body)
          response.end('{}')
        })
      else response.end(JSON.stringify(pod))
      return true
    }
    await executor.stop(handle, 30_000)
    expect(deleted).toMatchObject([{ gracePeriodSeconds: grace }])
  },
)

test('a node that says that it is not ready still tells the truth of its pods', async () => {
  server.items['pods'] = [podOf({ running: { startedAt: '2026-01-01T00:00:00Z' } }, { phase: 'Running' })]
  server.items['nodes'] = [node('False')]
  expect(await observe(executor, handle)).toMatchObject({ state: 'running' })
  expect(await executor.capacity?.()).toMatchObject([{ state: 'CORDONED' }])
})

test('a node with the taint of GPUs is for jobs with GPUs, and one with another taint for none', async () => {
  const tainted = (key: string, effect: string) => ({ ...node('True'), spec: { taints: [{ key, effect }] } })
  server.items['nodes'] = [
    tainted('nvidia.com/gpu', 'NoSchedule'),
    tainted('nvidia.com/gpu', 'NoExecute'),
    tainted('nvidia.com/gpu', 'PreferNoSchedule'),
    tainted('dedicated', 'NoSchedule'),
  ]
  const capacity = (await executor.capacity?.()) ?? []
  expect(capacity.map(({ state, gpuJobsOnly }) => [state, gpuJobsOnly])).toEqual([
    ['READY', true],
    ['READY', true],
    ['READY', false],
    ['CORDONED', false],
  ])
})

test('a pod that waits says what the kubelet told last of it', async () => {
  const told = (uid: string, reason: string, second: number) => ({
    involvedObject: { uid },
    reason,
    message: `${reason} ${uid}`,
    lastTimestamp: `2026-01-01T00:00:0${second}Z`,
  })
  server.items['pods'] = [podOf(waiting)]
  server.items['nodes'] = [node('True')]
  server.items['events'] = [told('u0', 'FailedMount', 5), told('u0', 'Pulling', 3), told('u1', 'Pulling', 9)]
  expect(await observe(executor, handle)).toMatchObject({ state: 'starting', info: 'FailedMount u0' })
})

test('the deadline of a pod that waits for the other pods of its run counts from when they begin', async () => {
  server.items['nodes'] = [node('True')]
  server.items['pods'] = ['00:00:00', '02:00:00'].map((at, replica) => {
    const [startTime, startedAt] = [`2026-01-01T${at}Z`, `2026-01-01T${at.slice(0, -2)}09Z`]
    const status = { phase: 'Running', podIP: '10.0.0.9', startTime }
    const pod = podOf({ running: { startedAt } }, { replica, replicas: 2, ...status })
    return { ...pod, metadata: { ...pod.metadata, annotations: { [annotations.deadline]: '100' } } }
  })
  await observe(executor, handle)
  const told = server.patches.map(({ path, body }) => [path.split('/').at(-1), body])
  const begin = (activeDeadlineSeconds: number) => ({
    metadata: { annotations: { [annotations.begin]: '10.0.0.9' } },
    spec: { activeDeadlineSeconds },
  })
  expect(Object.fromEntries(told)).toEqual({ [`${handle}-0`]: begin(7_309), [`${handle}-1`]: begin(109) })
})
