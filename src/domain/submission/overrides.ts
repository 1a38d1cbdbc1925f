import { removeDnsPrefix } from '../internal-dns.ts'
import type { JobSpec, Resources } from '../spec.ts'

/**
 * Turns a stored spec and overrides into the input of a new job. Overrides replace fields, also in `resources`; null
 * resets a field to its default. An override removes the stored fields that exclude it.
 */

export type Changes = Readonly<Record<string, unknown>>

const alternatives = [
  ['command', 'executable', 'handler'],
  ['command', 'arguments', 'handler'],
  ['command', 'executable', 'input'],
  ['maxRunTimeSeconds', 'durationSeconds'],
] as const

const resourceAlternatives = [
  ['memoryGib', 'memoryBytes'],
  ['gpuMemoryGib', 'gpuMemoryBytes'],
  ['nodeCount', 'processCount'],
] as const

/** Pairs of fields: an override of the first one removes the stored value of the second one. */
const invalidates = [
  ['queue', 'executor'],
  ['handler', 'executor'],
  ['team', 'account'],
] as const

export function applyOverrides(spec: JobSpec, changes: Changes): Record<string, unknown> {
  const stored: Record<string, unknown> = { ...spec, internalDns: internalDns(spec) }
  replace(stored, changes, alternatives)
  for (const [decider, decided] of invalidates) if (given(changes[decider])) delete stored[decided]
  return { ...stored, ...changes, resources: overrideResources(spec.resources, changes['resources']) }
}

function replace(stored: Record<string, unknown>, changes: Changes, groups: readonly (readonly string[])[]): void {
  for (const group of groups)
    for (const field of group)
      if (given(changes[field])) for (const other of group) if (other !== field) delete stored[other]
}

const given = (value: unknown) => value !== undefined && value !== null
const isObject = (value: unknown): value is Changes => typeof value === 'object' && value !== null

/** The stored name begins with the prefix of the account, which is removed here. */
function internalDns({ internalDns: dns, account }: JobSpec): unknown {
  if (!dns) return null
  return { ...dns, name: removeDnsPrefix(dns.name, account) }
}

function overrideResources(resources: Resources, changes: unknown): Changes {
  const change = isObject(changes) ? changes : {}
  const asked = { ...change }
  const perProcess = ['cpuCoresPerProcess', 'gpuCoresPerProcess'].some((name) =>
    given(asked[name] ?? resources[name as keyof Resources]),
  )
  // Omits empty filters. Omits the totals `cpu`, `gpu` and `replicas` if amounts for each process are given.
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
