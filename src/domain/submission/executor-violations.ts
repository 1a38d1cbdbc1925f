import type { Violation } from '../errors.ts'
import { findTraits, isDelegated, listExecutorsWhere, type SpecialField, specialFields } from '../executors.ts'
import type { SpecInput } from '../input.ts'
import type { Destination } from './destinations.ts'
import { listAttributeViolations, listDisplayViolations } from './reported.ts'

/** Lists fields that the executor does not support, and fields that it requires but the job lacks. */
export const listExecutorViolations = (spec: SpecInput, destination: Destination, executor: string): Violation[] => [
  ...listUnsupportedFields(spec, executor),
  ...listMissingFields(spec, executor),
  ...listPortViolations(spec, executor),
  ...listIsolationViolations(spec, executor),
  ...listReplicaViolations(spec, destination),
  ...listDeviceViolations(spec, destination, executor),
  ...listAttributeViolations(spec, destination.reports[executor], executor),
  ...listDisplayViolations(spec, destination.reports[executor], executor),
]

export function usesField(spec: SpecInput, field: SpecialField): boolean {
  if (field === 'replicas') return (spec.resources?.replicas ?? 1) > 1
  const value = spec[field]
  return Array.isArray(value) ? value.length > 0 : Boolean(value)
}

function listUnsupportedFields({ launcher, ...spec }: SpecInput, executor: string): Violation[] {
  const { honours, launchers } = findTraits(executor)
  const ignored = specialFields.filter((field) => !honours.includes(field) && usesField(spec, field))
  const refused = ignored.map((field) => {
    const others = listExecutorsWhere((traits) => traits.honours.includes(field)).join(', ')
    return field === 'replicas' ? ['resources.replicas', ` above 1; use ${others}`] : [field, `; use ${others}`]
  })
  if (launcher && !launchers.some((known) => known === launcher)) refused.push(['launcher', ` ${launcher}`])
  return refused.map(([field = '', more]) => {
    const path = field.split('.')
    return { path: ['spec', ...path], message: `Executor ${executor} does not support ${path.at(-1)}${more}` }
  })
}

/** true: the job may run on an executor whose jobs see the files of the caller. */
export const maySeeFilesOfCaller = (spec: SpecInput): boolean =>
  listExecutorsWhere(({ sharesFiles }) => sharesFiles).some(
    (name) => (spec.executor ?? name) === name && listUnsupportedFields(spec, name).length === 0,
  )

function listMissingFields(spec: SpecInput, executor: string): Violation[] {
  const { preferredFor, needsCommand } = findTraits(executor)
  if (needsCommand && !spec.command?.length && !spec.executable)
    return [
      { path: ['spec', 'command'], message: `Executor ${executor} cannot read the command of an image; specify it` },
    ]
  if (preferredFor?.when !== 'ALWAYS' || usesField(spec, preferredFor.field)) return []
  const { field } = preferredFor
  return [{ path: ['spec', field], message: `Executor ${executor} runs only jobs with ${field}` }]
}

function listPortViolations({ internalDns }: SpecInput, executor: string): Violation[] {
  if (findTraits(executor).mapsPorts) return []
  return (internalDns?.ports ?? []).flatMap(({ port, targetPort }, index): Violation[] => {
    if ((targetPort ?? port) === port) return []
    const path = ['spec', 'internalDns', 'ports', String(index), 'targetPort']
    return [{ path, message: `Executor ${executor} does not map ports; give ${port}, or leave targetPort out` }]
  })
}

function listIsolationViolations({ internalDns, networkIsolation }: SpecInput, executor: string): Violation[] {
  const { honours, namesIsolated } = findTraits(executor)
  if (!internalDns || !networkIsolation || namesIsolated || !honours.includes('internalDns')) return []
  const message = `Executor ${executor} makes jobs with networkIsolation unreachable for other jobs; leave out internalDns or networkIsolation`
  return [{ path: ['spec', 'internalDns'], message }]
}

/** A job with replicas must state its hardware, unless the pool sets relaxReplicas. */
function listReplicaViolations(spec: SpecInput, destination: Destination): Violation[] {
  const r = spec.resources
  if ((r?.replicas ?? 1) <= 1 || destination.relaxReplicas) return []
  return (['infiniband', 'gpu', 'gpuMemoryGib', 'gpuModel'] as const)
    .filter((field) => !r?.[field] || (Array.isArray(r[field]) && r[field].length === 0))
    .filter((field) => field !== 'gpuMemoryGib' || !r?.gpuMemoryBytes)
    .map((field) => ({ path: ['spec', 'resources', field], message: 'Must be given when replicas is above 1' }))
}

function listDeviceViolations(spec: SpecInput, destination: Destination, executor: string): Violation[] {
  if (spec.resources?.gpuIds && isDelegated([executor])) {
    const message = `Executor ${executor} chooses the GPUs; leave gpuIds out, or give a gpuModel`
    return [{ path: ['spec', 'resources', 'gpuIds'], message }]
  }
  const unknown = (spec.resources?.gpuIds ?? []).filter((id) => !destination.deviceIds.includes(id))
  return unknown.slice(0, 1).map((id) => ({
    path: ['spec', 'resources', 'gpuIds'],
    message: `Pool ${destination.pool} has no GPU ${id}`,
  }))
}
