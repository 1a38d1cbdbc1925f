import { givenDnsName } from '../internal-dns.ts'
import type { JobSpec, Resources } from '../spec.ts'

/**
 * A stored spec as input for a new job, with changes applied field by field, also those of `resources`; null resets a
 * field to its default. A change removes the fields that it excludes: a command removes the executable, memoryGib
 * removes memoryBytes, another queue removes the executor.
 */

export type Changes = Readonly<Record<string, unknown>>

/** Groups of fields that exclude each other. */
const alternatives = [
  ['command', 'executable', 'handler'],
  ['command', 'arguments', 'handler'],
  ['command', 'executable', 'input'],
  ['maxRunTimeSeconds', 'durationSeconds'],
] as const

const resourceAlternatives = [
  ['memoryGib', 'memoryBytes'],
  ['nodeCount', 'processCount'],
] as const

/** A change of the first field removes the stored value of the second. */
const decides = [
  ['queue', 'executor'],
  ['handler', 'executor'],
  ['team', 'account'],
] as const

export function respec(spec: JobSpec, changes: Changes): Record<string, unknown> {
  const stored: Record<string, unknown> = { ...spec, internalDns: internalDns(spec) }
  replace(stored, changes, alternatives)
  for (const [decider, decided] of decides) if (given(changes[decider])) delete stored[decided]
  return { ...stored, ...changes, resources: resourcesOf(spec.resources, changes['resources']) }
}

/** Removes the alternatives of a changed field, unless they are changed too. */
function replace(stored: Record<string, unknown>, changes: Changes, groups: readonly (readonly string[])[]): void {
  for (const group of groups)
    for (const field of group)
      if (given(changes[field])) for (const other of group) if (other !== field) delete stored[other]
}

const given = (value: unknown) => value !== undefined && value !== null
const isObject = (value: unknown): value is Changes => typeof value === 'object' && value !== null

/** Removes the account, which is stored in front of the given name. */
function internalDns({ internalDns: dns, account }: JobSpec): unknown {
  if (!dns) return null
  return { ...dns, name: givenDnsName(dns.name, account) }
}

function resourcesOf(resources: Resources, changes: unknown): Changes {
  const change = isObject(changes) ? changes : {}
  const asked = { ...change }
  const perProcess = ['cpuCoresPerProcess', 'gpuCoresPerProcess'].some((name) =>
    given(asked[name] ?? resources[name as keyof Resources]),
  )
  // Left out: empty filters, and totals where each process has its own amounts.
  const stored = Object.fromEntries(
    Object.entries(resources).filter(
      ([name, value]) =>
        given(value) &&
        !(Array.isArray(value) && value.length === 0) &&
        !(perProcess && ['cpu', 'gpu', 'replicas'].includes(name)),
    ),
  )
  replace(stored, change, resourceAlternatives)
  return { ...stored, ...change }
}
