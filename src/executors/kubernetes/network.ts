import { countCopies } from '../../domain/spec.ts'
import type { RunSpec } from '../executor.ts'
import { makeHandle, makeLabels, podLabels } from './names.ts'
import type { Secret } from './objects.ts'
import { makeOwnerReference } from './pod.ts'

/**
 * Creates the network objects of a run, before its pods: a headless Service for the names of replicas, a Service for
 * internal DNS, and a NetworkPolicy, which not every cluster network enforces.
 */

interface NetworkObject {
  path: 'services' | 'networkpolicies'
  body: { metadata: { name: string } }
}

const dnsPort = 53

export function makeNetworkObjects(run: RunSpec, owner: string, secret: Secret): NetworkObject[] {
  const { internalDns, networkIsolation, resources } = run.spec
  const handle = makeHandle(run.runId)
  const selector = { [podLabels.run]: run.runId }
  const shared = { labels: makeLabels(run, owner), ownerReferences: [makeOwnerReference(secret)] }
  const hasReplicas = countCopies(resources) > 1
  const objects: NetworkObject[] = []
  const addService = (name: string, own: object) => {
    const spec = { selector, publishNotReadyAddresses: true, ...own }
    const body = { apiVersion: 'v1', kind: 'Service', metadata: { ...shared, name }, spec }
    objects.push({ path: 'services', body })
  }
  if (hasReplicas) addService(handle, { clusterIP: 'None' })
  if (internalDns !== null) addService(internalDns.name, { ports: portsOf(internalDns) })
  if (networkIsolation !== null) {
    const spec = { podSelector: { matchLabels: selector }, ...closed(networkIsolation, hasReplicas ? selector : null) }
    const metadata = { ...shared, name: handle }
    const body = { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata, spec }
    objects.push({ path: 'networkpolicies', body })
  }
  return objects
}

const portsOf = ({ ports }: NonNullable<RunSpec['spec']['internalDns']>) =>
  ports.map(({ port, targetPort, protocol }) => ({
    name: `port-${port}-${protocol.toLowerCase()}`,
    port,
    targetPort,
    protocol,
  }))

/** Closes the directions of the isolation, except for `peers` and for DNS, by which replicas find each other. */
function closed(isolation: 'IN' | 'OUT' | 'ALL', peers: Readonly<Record<string, string>> | null) {
  const others = peers === null ? [] : [{ podSelector: { matchLabels: peers } }]
  const ingress = { policyTypes: ['Ingress'], ingress: others.map((from) => ({ from: [from] })) }
  const names = { ports: ['UDP', 'TCP'].map((protocol) => ({ protocol, port: dnsPort })) }
  const egress = { policyTypes: ['Egress'], egress: others.flatMap((to) => [{ to: [to] }, names]) }
  if (isolation === 'IN') return ingress
  if (isolation === 'OUT') return egress
  return { ...ingress, ...egress, policyTypes: ['Ingress', 'Egress'] }
}
