import type { IncomingMessage, ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Executor } from '../../../src/executors/executor.ts'
import { annotations, makeHandle, podLabels } from '../../../src/executors/kubernetes/names.ts'
import { createLog } from '../../../src/platform/log.ts'
import { makeDirectory } from '../../support/directory.ts'
import { until } from '../../support/until.ts'
import { type ClusterServer, fastClock, startClusterServer } from '../cluster-server.ts'
import { makeResources, makeRun, observe } from '../runs.ts'
import { openCluster } from './open-cluster.ts'

/** Responses that a proxy sends instead of the API server, or that must be retried. */

let directory: string
let server: ClusterServer
let executor: Executor

const open = (rate: number) =>
  openCluster({ kubeconfig: server.kubeconfig, clock: fastClock(rate), log: createLog('silent') })

beforeEach(async () => {
  directory = makeDirectory()
  server = await startClusterServer(directory)
  executor = open(50)
})
afterEach(async () => {
  await executor.close()
  await server.close()
})

const run = makeRun({ command: ['true'] })
const handle = makeHandle(run.runId)

/** Responses that the API server did not send, or that are retried. */
const answers: [string, number, string][] = [
  ['a page with 200', 200, '<html>Log in first</html>'],
  ['a redirect', 302, ''],
  ['a page with 404', 404, 'default backend - 404'],
  ['JSON of something else', 200, '{"status":"ok"}'],
  ['nothing', 200, ''],
  ['null', 200, 'null'],
  ['half of a list', 200, '{"metadata":{"resourceVersion":"1"},"items":[{"metadata":'],
  ['401', 401, '{"kind":"Status","reason":"Unauthorized","message":"Unauthorized"}'],
  ['429', 429, '{"kind":"Status","reason":"TooManyRequests","message":"later"}'],
  ['500', 500, '{"kind":"Status","reason":"InternalError","message":"etcdserver: request timed out"}'],
  ['410', 410, '{"kind":"Status","reason":"Expired","message":"The provided continue parameter is too old"}'],
]
const giving = (status: number, body: string) => (_: IncomingMessage, response: ServerResponse) => {
  response.writeHead(status, status === 302 ? { location: '/login' } : {}).end(body)
  return true
}

const isForbidden = '{"kind":"Status","reason":"Forbidden","message":"pods is forbidden"}'

describe.each(answers)('while the cluster responds with %s', (_, status, body) => {
  it('a known run keeps its state, and an unknown run is starting', async () => {
    const metadata = { name: `${handle}-0`, uid: 'u', resourceVersion: '1', labels: { [podLabels.handle]: handle } }
    const running = { startedAt: '2026-01-01T00:00:00Z' }
    const status_ = { phase: 'Running', containerStatuses: [{ name: 'job', state: { running } }] }
    server.items['pods'] = [{ metadata, spec: { containers: [] }, status: status_ }]
    expect(await observe(executor, handle)).toMatchObject({ state: 'running' })
    server.answers = giving(status, body)
    expect(await executor.inspect([handle, 'berth-run-other'])).toMatchObject([
      { state: 'running' },
      { state: 'starting', info: 'The cluster is unreachable' },
    ])
    await expect(executor.find(run.runId)).rejects.toThrow()
    expect(await executor.describe()).toMatchObject({ available: false })
  })
})

it.each([...answers, ['403', 403, isForbidden] as const])(
  'a start whose pod was requested waits while the cluster responds with %s',
  async (_, status, body) => {
    const made: string[] = []
    let isBroken = false
    server.items['pods'] = []
    server.answers = (request, response) => {
      if (isBroken) return giving(status, body)(request, response)
      if (request.method !== 'POST') return false
      void json(request).then((object) => {
        const { metadata } = object as { metadata: { name: string } }
        const isThere = made.includes(metadata.name)
        const isPod = request.url?.endsWith('/pods') === true
        if (isThere) return giving(409, '{"kind":"Status","reason":"AlreadyExists"}')(request, response)
        made.push(metadata.name)
        const whole = { ...(object as object), metadata: { ...metadata, uid: 'u', resourceVersion: '1' } }
        if (isPod) server.items['pods'] = [whole]
        else server.items['secrets'] = [whole]
        isBroken = isPod
        return isPod ? giving(status, body)(request, response) : response.end(JSON.stringify(whole))
      })
      return true
    }
    const starting = executor.start(run)
    await until(() => isBroken, { what: 'the pod is asked for' })
    expect(await Promise.race([starting.catch(String), new Promise((r) => setTimeout(r, 500, 'waits'))])).toBe('waits')
    isBroken = false
    expect(await starting).toBe(handle)
    expect(made).toEqual([handle, `${handle}-0`])
  },
)

describe('while a quota of the namespace is used up', () => {
  const forbidden = 'pods "p" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2'
  const body = JSON.stringify({ kind: 'Status', reason: 'Forbidden', message: forbidden })
  let isUsedUp = true

  beforeEach(() => {
    isUsedUp = true
    server.answers = (request, response) => {
      if (request.method !== 'POST') return false
      if (isUsedUp && request.url?.endsWith('/pods')) return giving(403, body)(request, response)
      void json(request).then((object) => {
        const { metadata } = object as { metadata: object }
        const whole = { ...(object as object), metadata: { ...metadata, uid: 'u', resourceVersion: '1' } }
        if (request.url?.endsWith('/secrets')) server.items['secrets'] = [whole]
        response.end(JSON.stringify(whole))
      })
      return true
    }
    server.items['pods'] = []
  })

  it('a start waits, and reports the quota', async () => {
    const told: string[] = []
    const starting = executor.start(run, undefined, (info) => told.push(info))
    await until(() => told.length > 1, { what: 'it tried twice' })
    expect(told[0]).toBe(`Waiting for a quota of its namespace: ${forbidden}`)
    expect(server.items['secrets']).toEqual([])
    isUsedUp = false
    expect(await starting).toBe(handle)
  })

  it('an aborted start leaves no objects', async () => {
    const cancelled = new AbortController()
    const starting = executor.start(run, cancelled.signal, () => cancelled.abort())
    await expect(starting).rejects.toMatchObject({ reason: 'START_FAILED' })
    expect(server.items['secrets']).toEqual([])
  })

  it('a run of several pods returns to the queue', async () => {
    const gang = makeRun({ command: ['true'], resources: makeResources({ replicas: 2 }) })
    await expect(executor.start(gang)).rejects.toMatchObject({ reason: 'NOT_TOGETHER', message: forbidden })
    expect(server.items['secrets']).toEqual([])
  })
})

describe('while the cluster cannot serve', () => {
  const patientMs = 3_000
  const within = (work: Promise<unknown>) =>
    Promise.race([work.catch(String), new Promise((resolve) => setTimeout(resolve, patientMs, 'waits'))])
  beforeEach(() => {
    server.answers = giving(503, '{"kind":"Status","reason":"ServiceUnavailable"}')
  })

  it('a start reports that, and returns to the queue after a minute', async () => {
    const told: string[] = []
    const starting = executor.start(run, undefined, (info) => told.push(info))
    await expect(starting).rejects.toMatchObject({ name: 'StartFailed', reason: 'NODE_TROUBLE' })
    expect(new Set(told)).toEqual(new Set(['The cluster is unreachable']))
  })

  it('an aborted start ends at once', async () => {
    const cancelled = new AbortController()
    const told: string[] = []
    const starting = executor.start(run, cancelled.signal, (info) => {
      told.push(info)
      cancelled.abort()
    })
    await expect(starting).rejects.toMatchObject({ name: 'StartFailed' })
    expect(told).toHaveLength(1)
  })

  it('a start inherited from another leader ends only if it is aborted', async () => {
    const slow = open(500)
    const cancelled = new AbortController()
    // At least twenty minutes.
    const starting = slow.start({ ...run, inherited: true }, cancelled.signal)
    expect(await within(starting)).toBe('waits')
    cancelled.abort()
    await expect(starting).rejects.toMatchObject({ name: 'BackendUnreachable' })
    await slow.close()
  })
})

it('the credentials are read again after the API server has moved', async () => {
  server.items['pods'] = []
  server.items['secrets'] = []
  expect(await observe(executor, handle)).toMatchObject({ state: 'gone' })
  const there = await startClusterServer(directory)
  there.items['pods'] = [
    {
      metadata: { name: `${handle}-0`, uid: 'u', resourceVersion: '1', labels: { [podLabels.handle]: handle } },
      spec: { containers: [] },
      status: {
        phase: 'Running',
        containerStatuses: [{ name: 'job', state: { running: { startedAt: '2026-01-01T00:00:00Z' } } }],
      },
    },
  ]
  await server.close()
  await until(async () => (await observe(executor, handle)).state === 'running', { what: 'the other one is asked' })
  server = there
})

it('a start inherited from another leader keeps waiting after a new start has failed', async () => {
  server.answers = giving(503, '{"kind":"Status","reason":"ServiceUnavailable"}')
  await expect(executor.start(makeRun({ command: ['true'] }))).rejects.toThrow('The cluster is unreachable')
  const inherited = executor.start({ ...run, inherited: true })
  const giveUpMs = 60_000 / 50
  expect(await Promise.race([inherited.catch(String), new Promise((r) => setTimeout(r, 2 * giveUpMs, 'waits'))])).toBe(
    'waits',
  )
  const made = { name: handle, uid: 'u', resourceVersion: '1', labels: { [podLabels.run]: run.runId } }
  server.items['secrets'] = [{ metadata: { ...made, annotations: { [annotations.made]: 'yes' } } }]
  server.answers = (request, response) => {
    if (request.method === 'POST') return giving(409, '{"kind":"Status","reason":"AlreadyExists"}')(request, response)
    return false
  }
  expect(await inherited).toBe(handle)
})

it.each([
  ['PATCH', '{"status":"ok"}'],
  ['GET', '{"metadata":null,"items":[]}'],
  ['GET', '{"metadata":{"resourceVersion":"1"},"items":{}}'],
])('a response to %s that is %s is ignored', async (method, body) => {
  const metadata = { name: `${handle}-0`, uid: 'u', resourceVersion: '1', labels: { [podLabels.handle]: handle } }
  const status = {
    phase: 'Running',
    containerStatuses: [{ name: 'job', state: { running: { startedAt: '2026-01-01T00:00:00Z' } } }],
  }
  server.items['pods'] = [{ metadata, spec: { containers: [] }, status }]
  expect(await observe(executor, handle)).toMatchObject({ state: 'running' })
  server.answers = (request, response) => request.method === method && giving(200, body)(request, response)
  expect(await observe(executor, handle)).toMatchObject({ state: 'running' })
  if (method === 'PATCH') await expect(executor.stop(handle, 0)).rejects.toThrow('did not come from the Kubernetes API')
})
