import type { ServerResponse } from 'node:http'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { BackendUnreachable } from '../../../src/executors/backend/unreachable.ts'
import { ClusterApi } from '../../../src/executors/kubernetes/cluster.ts'
import { KubernetesExecutor } from '../../../src/executors/kubernetes/kubernetes.ts'
import { podLabels } from '../../../src/executors/kubernetes/names.ts'
import type { Pod } from '../../../src/executors/kubernetes/objects.ts'
import { watchPods } from '../../../src/executors/kubernetes/watch.ts'
import type { Clock } from '../../../src/platform/clock.ts'
import { createLog } from '../../../src/platform/log.ts'
import { machineTime } from '../../support/clock.ts'
import { makeDirectory } from '../../support/directory.ts'
import { until } from '../../support/until.ts'
import { type ClusterServer, fastClock, startClusterServer } from '../cluster-server.ts'

/** Watches of an API server that ends, cuts off and freezes its responses. */

/** The clock of the executor runs this much faster. */
const rate = 50
/** Pause between two connections of a watch. */
const pauseMs = 1_000
let directory: string
let server: ClusterServer
let cluster: ClusterApi
let clock: Clock
let abort: AbortController
let watching: Promise<void>
/** Handles in the order in which the watch yielded them. */
let named: string[]
let pauses: number

beforeEach(async () => {
  directory = makeDirectory()
  server = await startClusterServer(directory)
  const fast = fastClock(rate)
  clock = {
    ...fast,
    sleep: (ms, signal) => {
      if (ms === pauseMs) pauses++
      return fast.sleep(ms, signal)
    },
  }
  cluster = new ClusterApi({ kubeconfig: server.kubeconfig, environment: {} }, { clock, time: machineTime })
  abort = new AbortController()
  watching = Promise.resolve()
  named = []
  pauses = 0
})
afterEach(async () => {
  abort.abort()
  await watching
  cluster.close()
  await server.close()
})

async function watch(): Promise<void> {
  const log = createLog('warn')
  for await (const handle of watchPods({ cluster, clock, log, signal: abort.signal })) named.push(handle)
}
function begin(): void {
  watching = watch()
}

const makePod = (name: string, version: number, phase = 'Running'): Pod => ({
  metadata: {
    name: `${name}-0`,
    uid: name,
    resourceVersion: String(version),
    labels: { [podLabels.handle]: name },
  },
  spec: { containers: [] },
  status: { phase },
})
const line = (type: string, object: object) => `${JSON.stringify({ type, object })}\n`
const are = (...expected: string[]) =>
  until(() => named.join() === expected.join(), { what: `${expected.join()} are named` }).catch((cause) => {
    throw new Error(`named: ${named.join()}`, { cause })
  })
const watches = (count: number) => until(() => server.watchedFrom.length >= count, { what: `${count} watches` })

/** Changes the pod without sending an event. */
function change(name: string, phase: string): void {
  server.version += 10
  server.items['pods'] = [makePod(name, server.version, phase)]
}

test.each<[string, (response: ServerResponse) => void]>([
  [
    'an event with the error 410',
    (response) => response.write(line('ERROR', { code: 410, reason: 'Expired', message: 'too old resource version' })),
  ],
  ['a line that is not JSON', (response) => response.write('<html>\n')],
  [
    'a connection cut in the middle of a line',
    (response) => {
      response.write(line('MODIFIED', makePod('berth-a', 2, 'Succeeded')).slice(0, 40))
      setTimeout(() => response.destroy(), 20)
    },
  ],
])('the pods are listed again after %s, and changed runs are reported', async (_, misbehave) => {
  server.items['pods'] = [makePod('berth-a', 1)]
  server.watches.push((response) => {
    change('berth-a', 'Failed')
    misbehave(response)
  })
  begin()
  await are('berth-a', 'berth-a')
  await watches(2)
  expect(server.watchedFrom.slice(0, 2)).toEqual(['1', '11'])
  // The connection of the first watch is not kept.
  await until(async () => (await server.connections()) <= 2, { what: 'it is closed' })
})

test('the pods are listed again after a 410 response, with pauses', async () => {
  server.items['pods'] = [makePod('berth-a', 1)]
  server.answers = (request, response) => {
    if (!request.url?.includes('watch=true')) return false
    server.watchedFrom.push('')
    response.writeHead(410).end(JSON.stringify({ kind: 'Status', code: 410, reason: 'Expired', message: 'too old' }))
    return true
  }
  begin()
  await watches(5)
  expect(pauses).toBeGreaterThanOrEqual(4)
  server.answers = () => false
  server.watches.push((response) => response.write(line('MODIFIED', makePod('berth-a', 2, 'Succeeded'))))
  await are('berth-a', 'berth-a')
})

test('a watch that ends resumes after a pause at its version, which bookmarks advance', async () => {
  server.watches.push(
    (response) =>
      response.end(line('ADDED', makePod('berth-a', 5)) + line('BOOKMARK', { metadata: { resourceVersion: '9' } })),
    // An incomplete line at the end is not an event.
    (response) =>
      response.end(line('ADDED', makePod('berth-b', 12)) + line('ADDED', makePod('berth-c', 13)).slice(0, 30)),
    (response) => response.end(line('ADDED', makePod('berth-c', 13))),
    ...Array.from({ length: 10 }, () => (response: ServerResponse) => void response.end()),
  )
  begin()
  await watches(14)
  expect(named).toEqual(['berth-a', 'berth-b', 'berth-c'])
  expect(server.watchedFrom.slice(0, 5)).toEqual(['1', '9', '12', '13', '13'])
  expect(server.listed).toEqual(['pods'])
  expect(pauses).toBeGreaterThanOrEqual(13)
})

test('a pod that was removed between two watches is reported', async () => {
  server.items['pods'] = [makePod('berth-a', 1), makePod('berth-b', 1)]
  server.watches.push((response) => {
    server.items['pods'] = [makePod('berth-b', 1)]
    response.destroy()
  })
  begin()
  await are('berth-a', 'berth-b', 'berth-a')
})

test('a watch that never ends is closed after a timeout', async () => {
  server.items['pods'] = [makePod('berth-a', 1)]
  server.watches.push(() => change('berth-a', 'Failed'))
  begin()
  await are('berth-a', 'berth-a')
})

test('a truncated watch response is discarded', async () => {
  server.answers = (_, response) => {
    response.writeHead(200).write('{"metadata":')
    return true
  }
  await expect(cluster.list('pods')).rejects.toThrow(BackendUnreachable)
})

test('a frozen API server does not delay the start of a server', async () => {
  server.answers = () => true
  let waitedMs = 0
  const counting: Clock = {
    ...clock,
    async sleep(ms, signal) {
      await clock.sleep(ms, signal)
      if (!signal?.aborted) waitedMs = Math.max(waitedMs, ms)
    },
  }
  const { kubeconfig } = server
  const log = createLog('warn')
  const options = {
    kubeconfig,
    installation: 'test',
    environment: {},
    image: 'i',
    dataRoots: {},
    time: machineTime,
    log,
  }
  const executor = new KubernetesExecutor({ ...options, clock: counting })
  expect(await executor.describe()).toMatchObject({
    available: false,
    message: expect.stringContaining('no answer from'),
  })
  expect(waitedMs).toBe(5_000)
  await executor.close()
})
