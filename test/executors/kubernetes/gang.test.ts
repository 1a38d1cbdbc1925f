import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Executor } from '../../../src/executors/executor.ts'
import { annotations, podLabels } from '../../../src/executors/kubernetes/names.ts'
import type { ContainerStatus, Pod } from '../../../src/executors/kubernetes/objects.ts'
import { makeDirectory } from '../../support/directory.ts'
import { type ClusterServer, fastClock, startClusterServer } from '../cluster-server.ts'
import { observe } from '../runs.ts'
import { openCluster } from './open-cluster.ts'

/** A run of several pods, some of which the cluster cannot place. */

let directory: string
let server: ClusterServer
let executor: Executor

const openExecutor = () => openCluster({ kubeconfig: server.kubeconfig, clock: fastClock(1) })

beforeEach(async () => {
  directory = makeDirectory()
  server = await startClusterServer(directory)
  server.items['nodes'] = [{ metadata: { name: 'n1' }, spec: {}, status: {} }]
  executor = openExecutor()
})
afterEach(async () => {
  await executor.close()
  await server.close()
})

const handle = 'berth-run-1'
const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString()
const running = { running: { startedAt: ago(3_000) } }

function makePod(replica: number, spec: Partial<Pod['spec']>, status: Pod['status']): Pod {
  const labels = {
    [podLabels.handle]: handle,
    [podLabels.replica]: String(replica),
    [podLabels.replicas]: '3',
  }
  const metadata = { name: `${handle}-${replica}`, uid: `u${replica}`, resourceVersion: '1', labels }
  return { metadata, spec: { containers: [], ...spec }, status }
}

const placed = (replica: number, secondsAgo: number, state: ContainerStatus['state'] = running): Pod =>
  makePod(
    replica,
    { nodeName: 'n1' },
    {
      phase: 'Running',
      podIP: `10.0.0.${replica}`,
      conditions: [{ type: 'PodScheduled', status: 'True', lastTransitionTime: ago(secondsAgo) }],
      containerStatuses: [{ name: 'job', state: state ?? running }],
    },
  )

const nowhere = (replica: number): Pod =>
  makePod(
    replica,
    {},
    {
      phase: 'Pending',
      conditions: [
        { type: 'PodScheduled', status: 'False', lastTransitionTime: ago(3_000), message: '0/1 nodes are available' },
      ],
    },
  )

const podsNow = () => (server.items['pods'] ?? []) as readonly Pod[]

/** Imitates kubelets that obey stop requests. */
function obey(): void {
  server.items['pods'] = podsNow().map((pod) => {
    if (pod.metadata.annotations?.[annotations.stop] === undefined) return pod
    const terminated = { exitCode: 143, reason: 'Error', message: 'STOPPED\n', finishedAt: ago(0) }
    return {
      ...pod,
      status: { ...pod.status, phase: 'Failed', containerStatuses: [{ name: 'job', state: { terminated } }] },
    }
  })
}

test('a run reports the digest of the image of its pods', async () => {
  const begun = { [annotations.begin]: 'now' }
  const imageID = 'docker.io/library/alpine@sha256:1'
  server.items['pods'] = [0, 1, 2].map((replica) => {
    const pod = placed(replica, 60)
    const containerStatuses = [{ name: 'job', state: running, imageID }]
    return { ...pod, metadata: { ...pod.metadata, annotations: begun }, status: { ...pod.status, containerStatuses } }
  })
  expect(await observe(executor, handle)).toMatchObject({ state: 'running', imageDigest: 'sha256:1' })
})

test('a gang waits while its pods get their nodes one after the other', async () => {
  server.items['pods'] = [placed(0, 2_000), placed(1, 30), nowhere(2)]
  expect(await observe(executor, handle)).toMatchObject({ state: 'starting', info: '0/1 nodes are available' })
  expect(server.patches).toEqual([])
})

test('a gang is stopped if no further pod gets a node, and fails as NOT_TOGETHER after its last pod ended', async () => {
  server.items['pods'] = [placed(0, 2_000), placed(1, 610), nowhere(2)]
  server.items['secrets'] = [{ metadata: { name: handle } }]
  expect(await observe(executor, handle)).toMatchObject({ state: 'starting' })
  expect(podsNow().map(({ metadata: { name, annotations: told } }) => [name, told?.[annotations.stop]])).toEqual([
    [`${handle}-0`, '30000'],
    [`${handle}-1`, '30000'],
  ])
  obey()
  expect(await observe(executor, handle)).toEqual({
    state: 'failed',
    reason: 'NOT_TOGETHER',
    message: 'The cluster placed 2 of 3 pods, and no other one within 600 s: 0/1 nodes are available',
  })
})

test('a gang whose start was aborted does not begin when its last pod is ready', async () => {
  const pods = [placed(0, 2_000), placed(1, 610), placed(2, 1)]
  server.items['pods'] = pods.map((pod) => ({
    ...pod,
    metadata: { ...pod.metadata, annotations: { [annotations.givenUp]: 'no place' } },
  }))
  await observe(executor, handle)
  expect(podsNow().map(({ metadata }) => metadata.annotations?.[annotations.begin])).toEqual(Array(3).fill(undefined))
  obey()
  expect(await observe(executor, handle)).toMatchObject({ state: 'failed', message: 'no place' })
})

test('a gang whose node becomes unreachable before it began reports neverBegan, and stays stopped after a stop request', async () => {
  const pods = [placed(0, 60), placed(1, 50), placed(2, 40)]
  server.items['pods'] = pods
  server.items['nodes'] = [
    { metadata: { name: 'n1' }, spec: {}, status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } },
  ]
  expect(await observe(executor, handle)).toEqual({
    state: 'unreachable',
    info: 'Node n1 is unreachable',
    neverBegan: true,
  })
  await executor.stop(handle, 30_000)
  server.items['nodes'] = [{ metadata: { name: 'n1' }, spec: {}, status: {} }]
  const next = await openExecutor()
  await observe(next, handle)
  expect(podsNow().map(({ metadata }) => metadata.annotations?.[annotations.begin])).toEqual(Array(3).fill(undefined))
  await next.close()
})

const alone = {
  terminated: { exitCode: 143, reason: 'Error', message: 'NOT_TOGETHER\n', finishedAt: ago(0) },
}

test('a pod that waits too long for the others fails the gang as NOT_TOGETHER', async () => {
  server.items['pods'] = [placed(0, 4_000, alone), nowhere(1), nowhere(2)]
  expect(await observe(executor, handle)).toMatchObject({ state: 'failed', reason: 'NOT_TOGETHER' })
})

test('a pod that waits too long after others began interrupts the run', async () => {
  const others = [placed(1, 4_000), placed(2, 4_000)].map((pod) => ({
    ...pod,
    metadata: { ...pod.metadata, annotations: { [annotations.begin]: '10.0.0.0' } },
  }))
  server.items['pods'] = [placed(0, 4_000, alone), ...others]
  expect(await observe(executor, handle)).toMatchObject({ state: 'running' })
  obey()
  expect(await observe(executor, handle)).toMatchObject({ state: 'gone' })
})
