import { countCopies } from '../../domain/spec.ts'
import type { RunSpec } from '../executor.ts'
import { makeHandle, makeLabels, podLabels } from './names.ts'
import type { Secret } from './objects.ts'
import { makeOwnerReference } from './pod.ts'

/**
 * Network objects of a run. They are made before its pods, so no pod runs without its isolation.
 *
 * - A headless Service: names of replicas, `<pod>.<handle>`.
 * - A Service for internal DNS, with the name of the job and its ports.
 * - A NetworkPolicy for isolation; the replicas of a run still reach each other. Not every cluster network enforces policies.
 */

interface NetworkObject {
  path: 'services' | 'networkpolicies'
  body: { metadata: { name: string } }
}

const dnsPort = 53

export function makeNetworkObjects(run: RunSpec, owner: string, secret: Secret): NetworkObject[] {
  const { spec } = run
  const selector = { [podLabels.run]: run.runId }
  const metadata = { labels: makeLabels(run, owner), ownerReferences: [makeOwnerReference(secret)] }
  const hasReplicas = countCopies(spec.resources) > 1
  const objects: NetworkObject[] = []
  if (hasReplicas)
    objects.push({
      path: 'services',
      body: service({ ...metadata, name: makeHandle(run.runId) }, { selector, clusterIP: 'None' }),
    })
  if (spec.internalDns !== null)
    objects.push({
      path: 'services',
      body: service({ ...metadata, name: spec.internalDns.name }, { selector, ports: portsOf(spec.internalDns) }),
    })
  if (spec.networkIsolation !== null)
    objects.push({
      path: 'networkpolicies',
      body: {
        apiVersion: 'networking.k8s.io/v1',
        kind: 'NetworkPolicy',
        metadata: { ...metadata, name: makeHandle(run.runId) },
        spec: {
          podSelector: { matchLabels: selector },
          ...closed(spec.networkIsolation, hasReplicas ? selector : null),
        },
      } as NetworkObject['body'],
    })
  return objects
}

const service = (metadata: { name: string }, spec: object): NetworkObject['body'] =>
  ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata,
    spec: { ...spec, publishNotReadyAddresses: true },
  }) as NetworkObject['body']

const portsOf = ({ ports }: NonNullable<RunSpec['spec']['internalDns']>) =>
  ports.map(({ port, targetPort, protocol }) => ({
    name: `port-${port}-${protocol.toLowerCase()}`,
    port,
    targetPort,
    protocol,
  }))

/** A direction without rules is closed, except for `peers` and for DNS, by which replicas find each other. */
function closed(isolation: 'IN' | 'OUT' | 'ALL', peers: Readonly<Record<string, string>> | null) {
  const others = peers === null ? [] : [{ podSelector: { matchLabels: peers } }]
  const ingress = { policyTypes: ['Ingress'], ingress: others.map((from) => ({ from: [from] })) }
  const names = { ports: ['UDP', 'TCP'].map((protocol) => ({ protocol, port: dnsPort })) }
  const egress = { policyTypes: ['Egress'], egress: others.flatMap((to) => [{ to: [to] }, names]) }
  if (isolation === 'IN') return ingress
  if (isolation === 'OUT') return egress
  return { ...ingress, ...egress, policyTypes: ['Ingress', 'Egress'] }
}
