import { json } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Executor, LogChunk } from '../../../src/executors/executor.ts'
import { annotations, podLabels } from '../../../src/executors/kubernetes/names.ts'
import type { Pod } from '../../../src/executors/kubernetes/objects.ts'
import type { Clock } from '../../../src/platform/clock.ts'
import { makeDirectory } from '../../support/directory.ts'
import { until } from '../../support/until.ts'
import { type ClusterServer, fastClock, startClusterServer } from '../cluster-server.ts'
import { observe, read } from '../runs.ts'
import { openCluster } from './open-cluster.ts'

/** Observations of the objects of a fake API server. */

let directory: string
let server: ClusterServer
let executor: Executor

const openExecutor = (clock: Clock) => openCluster({ kubeconfig: server.kubeconfig, clock })

beforeEach(async () => {
  directory = makeDirectory()
  server = await startClusterServer(directory)
  executor = openExecutor(fastClock(1))
})
afterEach(async () => {
  await executor.close()
  await server.close()
})

const handle = 'berth-run-1'
type Status = Pod['status']
type State = NonNullable<NonNullable<Status['containerStatuses']>[number]['state']>

function makePod(
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

test('a waiting pod on an unreachable node is reported as unreachable', async () => {
  server.items['pods'] = [makePod(waiting)]
  server.items['nodes'] = [node('Unknown')]
  expect(await observe(executor, handle)).toMatchObject({ state: 'unreachable', info: 'Node n1 is unreachable' })
})

test.each([
  ['Unknown', 30],
  ['True', 0],
] as const)(
  'a pod without an image (its node is ready: %s) is deleted with a grace period of %i s',
  async (ready, grace) => {
    const pod = makePod({ waiting: { reason: 'ImagePullBackOff' } })
    server.items['pods'] = [pod]
    server.items['secrets'] = [{ metadata: { name: handle } }]
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

test('the pods of a node that is not ready are still reported', async () => {
  server.items['pods'] = [makePod({ running: { startedAt: '2026-01-01T00:00:00Z' } }, { phase: 'Running' })]
  server.items['nodes'] = [node('False')]
  expect(await observe(executor, handle)).toMatchObject({ state: 'running' })
  expect(await executor.capacity?.()).toMatchObject([{ state: 'CORDONED' }])
})

test('a node with the GPU taint accepts only jobs with GPUs, and a node with another taint accepts no jobs', async () => {
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

test('a waiting pod is reported with the latest event of its kubelet', async () => {
  const told = (uid: string, reason: string, second: number) => ({
    involvedObject: { uid },
    reason,
    message: `${reason} ${uid}`,
    lastTimestamp: `2026-01-01T00:00:0${second}Z`,
  })
  server.items['pods'] = [makePod(waiting)]
  server.items['nodes'] = [node('True')]
  server.items['events'] = [told('u0', 'FailedMount', 5), told('u0', 'Pulling', 3), told('u1', 'Pulling', 9)]
  expect(await observe(executor, handle)).toMatchObject({ state: 'starting', info: 'FailedMount u0' })
})

/** A pod that the API server placed ten seconds ago, on a node whose clock is two hours slow. */
const onSlowNode = (state: State, phase = 'Running') => {
  const ago = (seconds: number) => new Date(Date.now() - seconds * 1_000).toISOString().replace(/\.\d+/, '')
  const slowSeconds = 7_200
  return makePod(state, {
    phase,
    startTime: ago(slowSeconds + 9),
    conditions: [{ type: 'PodScheduled', status: 'True', lastTransitionTime: ago(10) }],
  })
}
const slowAgo = (seconds: number) => new Date(Date.now() - (7_200 + seconds) * 1_000).toISOString()

test('a pod on a node with a slow clock starts at its placement, and has the duration that its node reports', async () => {
  server.items['nodes'] = [node('True')]
  server.items['pods'] = [onSlowNode({ running: { startedAt: slowAgo(8) } })]
  const running = await observe(executor, handle)
  const startedMs = 'startedAt' in running ? (running.startedAt?.getTime() ?? 0) : 0
  // Without the correction, the difference is two hours.
  expect(Date.now() - startedMs).toBeLessThan(3_600_000)
  const terminated = { exitCode: 0, reason: 'Completed', startedAt: slowAgo(8), finishedAt: slowAgo(3) }
  server.items['pods'] = [onSlowNode({ terminated }, 'Succeeded')]
  const ended = await observe(executor, handle)
  if (ended.state !== 'ended') throw new Error(`The run is ${ended.state}`)
  const ranMs = (ended.finishedAt?.getTime() ?? 0) - (ended.startedAt?.getTime() ?? 0)
  expect(ranMs).toBeGreaterThan(3_000)
  expect(ranMs).toBeLessThan(7_000)
})

test('the reported end of a pod does not change if the clock of its node is corrected later', async () => {
  server.items['nodes'] = [node('True')]
  const finishedAt = new Date(Date.now() - 3_600_000).toISOString()
  const terminated = { exitCode: 0, reason: 'Completed', startedAt: slowAgo(7_000), finishedAt }
  server.items['pods'] = [onSlowNode({ terminated }, 'Succeeded')]
  const ended = await observe(executor, handle)
  const finishedMs = 'finishedAt' in ended ? (ended.finishedAt?.getTime() ?? 0) : 0
  expect(Math.abs(finishedMs - Date.parse(finishedAt))).toBeLessThan(60_000)
})

test('the start of a run stays the same while the clock of the API server is an hour ahead', async () => {
  server.items['nodes'] = [node('True')]
  const startedAt = new Date(Date.now() + 3_590_000).toISOString()
  server.items['pods'] = [makePod({ running: { startedAt } }, { phase: 'Running' })]
  const starts = new Set<number | undefined>()
  for (const aheadMs of [3_600_000, 3_599_100, 3_601_000]) {
    server.answers = (_, response) => {
      response.setHeader('date', new Date(Date.now() + aheadMs).toUTCString())
      return false
    }
    const running = await observe(executor, handle)
    starts.add('startedAt' in running ? running.startedAt?.getTime() : undefined)
  }
  expect(starts.size).toBe(1)
  expect(Math.abs(Number([...starts][0]) - Date.now())).toBeLessThan(30_000)
})

test('a failing image pull is retried for ten minutes, also on a node with a slow clock', async () => {
  server.items['nodes'] = [node('True')]
  server.items['pods'] = [onSlowNode({ waiting: { reason: 'ErrImagePull' } }, 'Pending')]
  expect(await observe(executor, handle)).toMatchObject({ state: 'starting' })
})

test('the output stream ends with its pod even if the connection stays open', async () => {
  const fast = await openExecutor(fastClock(100))
  server.items['nodes'] = [node('True')]
  server.items['pods'] = [makePod({ running: { startedAt: '2026-01-01T00:00:00Z' } }, { phase: 'Running' })]
  let followers = 0
  const line = (text: string, second: number) => `2026-01-01T00:00:0${second}.000000000Z ${text}\n`
  server.answers = (request, response) => {
    if (!request.url?.includes('/log?')) return false
    response.write(line('first', 1))
    if (request.url.includes('follow=true')) followers++
    else response.end(line('last', 2))
    return true
  }
  await observe(fast, handle)
  const reading = read(fast, handle)
  await until(() => followers > 0, { what: 'the output is followed' })
  const terminated = { exitCode: 0, reason: 'Completed', finishedAt: '2026-01-01T00:00:02Z' }
  server.items['pods'] = [makePod({ terminated }, { phase: 'Succeeded' })]
  expect(await observe(fast, handle)).toMatchObject({ state: 'ended' })
  expect((await reading).out).toBe('first\nlast\n')
  await fast.close()
})

async function chunksOf(from: unknown): Promise<LogChunk[]> {
  const chunks: LogChunk[] = []
  for await (const chunk of executor.logs(handle, from, new AbortController().signal)) chunks.push(chunk)
  return chunks
}

test.each([{ pods: { 0: { first: 'a', at: 'a', seen: 1, bytes: 1 } } }, null])(
  'the output of a pod that was removed before it was read has one gap, from position %j',
  async (from) => {
    const chunks = await chunksOf(from)
    expect(chunks).toMatchObject([{ gap: 'LOST', bytes: 0 }])
    expect(await chunksOf(chunks[0]?.next)).toEqual([])
  },
)

test('the output of a run that was stopped before it began has no gap', async () => {
  const labels = { [podLabels.handle]: handle }
  const metadata = { name: handle, labels, annotations: { [annotations.withdrawn]: 'yes' } }
  server.items['secrets'] = [{ metadata }]
  expect(await chunksOf(null)).toEqual([])
})

test.each<[string, State, object[]]>([
  ['that runs', { running: { startedAt: '2026-01-01T00:00:00Z' } }, [{ gap: 'LOST', bytes: 0 }]],
  ['whose command has not begun', waiting, []],
])(
  'the output of a pod %s and is removed before it was read has a gap only if the command began',
  async (_, state, expected) => {
    server.items['nodes'] = [node('True')]
    server.items['pods'] = [makePod(state, { phase: 'Running' })]
    server.answers = (request, response) => {
      if (!request.url?.includes('/log?')) return false
      server.items['pods'] = []
      response.writeHead(400).end('{"kind":"Status","reason":"BadRequest","message":"container not found"}')
      return true
    }
    expect(await chunksOf(null)).toMatchObject(expected)
  },
)

test('the output of an interrupted pod has a gap even if its start was not inspected', async () => {
  server.items['nodes'] = [node('True')]
  server.items['pods'] = [makePod(waiting, { phase: 'Pending' })]
  server.answers = (request, response) => {
    if (!request.url?.includes('/log?')) return false
    response.write('2026-01-01T00:00:01.000000000Z hello\n')
    setTimeout(() => {
      server.items['pods'] = []
      response.destroy()
    }, 100)
    return true
  }
  expect(await chunksOf(null)).toMatchObject([{ stream: 'STDOUT' }, { gap: 'LOST', bytes: 0 }])
})

test('the output of a pod that is removed from an unreachable node has a gap', async () => {
  server.items['nodes'] = [node('Unknown')]
  server.items['pods'] = [makePod({ running: { startedAt: '2026-01-01T00:00:00Z' } }, { phase: 'Running' })]
  server.answers = (request, response) => {
    if (!request.url?.includes('/log?')) return false
    server.items['pods'] = []
    response.writeHead(500).end()
    return true
  }
  expect(await chunksOf(null)).toMatchObject([{ gap: 'LOST', bytes: 0 }])
})

test('the deadline of a waiting pod is counted from the start of its run', async () => {
  server.items['nodes'] = [node('True')]
  server.items['pods'] = ['00:00:00', '02:00:00'].map((at, replica) => {
    const [startTime, startedAt] = [`2026-01-01T${at}Z`, `2026-01-01T${at.slice(0, -2)}09Z`]
    const status = { phase: 'Running', podIP: '10.0.0.9', startTime }
    const pod = makePod({ running: { startedAt } }, { replica, replicas: 2, ...status })
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
