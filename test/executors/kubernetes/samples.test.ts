import { afterAll, expect, test } from 'vitest'
import { ClusterApi } from '../../../src/executors/kubernetes/cluster.ts'
import { addPods, samplePods } from '../../../src/executors/kubernetes/samples.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { machineTime } from '../../support/clock.ts'
import { makeDirectory } from '../../support/directory.ts'
import { startClusterServer } from '../cluster-server.ts'

const directory = makeDirectory()
const server = await startClusterServer(directory)
const cluster = new ClusterApi(
  { kubeconfig: server.kubeconfig, namespace: 'jobs', environment: {} },
  { clock: systemClock, time: machineTime },
)
afterAll(async () => {
  cluster.close()
  await server.close()
})

/** An item of metrics-server 0.7. */
const metrics = (name: string, usages: readonly Record<string, string>[]) => ({
  metadata: { name, namespace: 'jobs', creationTimestamp: '2026-11-24T18:00:00Z', labels: { 'berth/run': 'run_1' } },
  timestamp: '2026-11-24T17:59:48Z',
  window: '15.121s',
  containers: usages.map((usage, index) => ({ name: `c${index}`, usage })),
})

test('the resource use of a run is the sum over the containers of all its pods', () => {
  const pods = [
    metrics('berth-run-a-0', [
      { cpu: '1002998n', memory: '18432Ki' },
      { cpu: '250m', memory: '1Mi' },
    ]),
    metrics('berth-run-a-1', [{ cpu: '2', memory: '1048576' }]),
    metrics('berth-run-b-0', []),
    metrics('other', [{ cpu: '1', memory: '1' }]),
  ]
  expect(addPods(pods)).toEqual(
    new Map([
      ['berth-run-a', { cpuCores: expect.closeTo(2.251002998, 9), memoryBytes: 20_480 * 1024 }],
      ['berth-run-b', {}],
    ]),
  )
})

test('the metrics of the namespace are read in one request', async () => {
  const asked: string[] = []
  server.answers = (request, response) => {
    asked.push(decodeURIComponent(request.url ?? ''))
    const items = [metrics('berth-run-a-0', [{ cpu: '500m', memory: '1Mi' }])]
    response.end(JSON.stringify({ kind: 'PodMetricsList', apiVersion: 'metrics.k8s.io/v1beta1', metadata: {}, items }))
    return true
  }
  const samples = await samplePods(cluster, ['berth-run-a', 'berth-run-b'])
  expect(samples).toEqual(new Map([['berth-run-a', { cpuCores: 0.5, memoryBytes: 2 ** 20 }]]))
  expect(asked).toEqual([
    expect.stringContaining(
      '/apis/metrics.k8s.io/v1beta1/namespaces/jobs/pods?labelSelector=berth/handle+in+(berth-run-a,',
    ),
  ])
  expect((await samplePods(cluster, [])).size).toBe(0)
})

test.each([
  [404, '404 page not found'],
  [
    403,
    JSON.stringify({
      kind: 'Status',
      status: 'Failure',
      reason: 'Forbidden',
      message: 'pods.metrics.k8s.io is forbidden',
    }),
  ],
  [503, 'service unavailable'],
])('a cluster that responds with %d has no samples', async (status, body) => {
  server.answers = (_, response) => {
    response.writeHead(status).end(body)
    return true
  }
  expect((await samplePods(cluster, ['berth-run-a'])).size).toBe(0)
})
