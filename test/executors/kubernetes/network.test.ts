import { expect, it } from 'vitest'
import { makeNetworkObjects } from '../../../src/executors/kubernetes/network.ts'
import { makeResources, makeRun } from '../runs.ts'

/** Network objects of runs. */

const secret = { metadata: { name: 's', uid: 'u', resourceVersion: '1' } }
const objectsOf = (...run: Parameters<typeof makeRun>) => makeNetworkObjects(makeRun(...run), 'us', secret)

it.each([
  ['IN', { policyTypes: ['Ingress'], ingress: [] }],
  ['OUT', { policyTypes: ['Egress'], egress: [] }],
  ['ALL', { policyTypes: ['Ingress', 'Egress'], ingress: [], egress: [] }],
] as const)('networkIsolation %s closes only its own directions', (networkIsolation, closed) => {
  const run = { runId: 'run_1' }
  const [policy, ...others] = objectsOf({ networkIsolation }, run)
  expect(others).toEqual([])
  expect(policy).toMatchObject({ path: 'networkpolicies', body: { kind: 'NetworkPolicy' } })
  expect(policy?.body).toHaveProperty('spec', { podSelector: { matchLabels: { 'berth/run': 'run_1' } }, ...closed })
})

it('the replicas of an isolated run can reach only each other and DNS', () => {
  const spec = { networkIsolation: 'ALL', resources: makeResources({ replicas: 2 }) } as const
  const peers = { podSelector: { matchLabels: { 'berth/run': 'run_1' } } }
  const names = { ports: ['UDP', 'TCP'].map((protocol) => ({ protocol, port: 53 })) }
  const policy = objectsOf(spec, { runId: 'run_1' }).find(({ path }) => path === 'networkpolicies')
  expect(policy?.body).toHaveProperty('spec', {
    ...peers,
    policyTypes: ['Ingress', 'Egress'],
    ingress: [{ from: [peers] }],
    egress: [{ to: [peers] }, names],
  })
})

it('a job with the isolation OUT can be reached by its name', () => {
  const internalDns = { name: 'dns-users-ann-web', ports: [{ port: 80, targetPort: 8080, protocol: 'TCP' as const }] }
  const objects = objectsOf({ networkIsolation: 'OUT', internalDns })
  expect(objects.map(({ path, body }) => `${path}/${body.metadata.name}`)[0]).toBe('services/dns-users-ann-web')
  expect(objects).toHaveLength(2)
})
