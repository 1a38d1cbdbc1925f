import type { Violation } from '../errors.ts'
import { executorsWhere, findTraits, isDelegated, type SpecialField, specialFields } from '../executors.ts'
import type { SpecInput } from '../input.ts'
import type { Destination } from './destinations.ts'
import { attributeViolations, displayViolations } from './reported.ts'

/** Why the executor cannot run the job: fields that it does not support, or lacks. */
export const listExecutorViolations = (spec: SpecInput, destination: Destination, executor: string): Violation[] => [
  ...unsupportedFields(spec, executor),
  ...missingField(spec, executor),
  ...portViolations(spec, executor),
  ...isolationViolations(spec, executor),
  ...gangViolations(spec, destination),
  ...deviceViolations(spec, destination, executor),
  ...attributeViolations(spec, destination.reports[executor], executor),
  ...displayViolations(spec, destination.reports[executor], executor),
]

/** true: the job uses the field. */
export function requests(spec: SpecInput, field: SpecialField): boolean {
  if (field === 'replicas') return (spec.resources?.replicas ?? 1) > 1
  const value = spec[field]
  return Array.isArray(value) ? value.length > 0 : Boolean(value)
}

function unsupportedFields({ launcher, ...spec }: SpecInput, executor: string): Violation[] {
  const { honours, launchers } = findTraits(executor)
  const ignored = specialFields.filter((field) => !honours.includes(field) && requests(spec, field))
  const refused = ignored.map((field) => {
    const others = executorsWhere((traits) => traits.honours.includes(field)).join(', ')
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
  executorsWhere(({ sharesFiles }) => sharesFiles).some(
    (name) => (spec.executor ?? name) === name && unsupportedFields(spec, name).length === 0,
  )

function missingField(spec: SpecInput, executor: string): Violation[] {
  const { preferredFor, needsCommand } = findTraits(executor)
  if (needsCommand && !spec.command?.length && !spec.executable)
    return [
      { path: ['spec', 'command'], message: `Executor ${executor} cannot read the command of an image; specify it` },
    ]
  if (preferredFor?.when !== 'ALWAYS' || requests(spec, preferredFor.field)) return []
  const { field } = preferredFor
  return [{ path: ['spec', field], message: `Executor ${executor} runs only jobs with ${field}` }]
}

function portViolations({ internalDns }: SpecInput, executor: string): Violation[] {
  if (findTraits(executor).mapsPorts) return []
  return (internalDns?.ports ?? []).flatMap(({ port, targetPort }, index): Violation[] => {
    if ((targetPort ?? port) === port) return []
    const path = ['spec', 'internalDns', 'ports', String(index), 'targetPort']
    return [{ path, message: `Executor ${executor} does not map ports; give ${port}, or leave targetPort out` }]
  })
}

function isolationViolations({ internalDns, networkIsolation }: SpecInput, executor: string): Violation[] {
  const { honours, namesIsolated } = findTraits(executor)
  if (!internalDns || !networkIsolation || namesIsolated || !honours.includes('internalDns')) return []
  const message = `Executor ${executor} makes jobs with networkIsolation unreachable for other jobs; leave out internalDns or networkIsolation`
  return [{ path: ['spec', 'internalDns'], message }]
}

/** A job with replicas must state its hardware, unless the pool sets relaxReplicas. */
function gangViolations(spec: SpecInput, destination: Destination): Violation[] {
  const r = spec.resources
  if ((r?.replicas ?? 1) <= 1 || destination.relaxReplicas) return []
  return (['infiniband', 'gpu', 'gpuMemoryGib', 'gpuModel'] as const)
    .filter((field) => !r?.[field] || (Array.isArray(r[field]) && r[field].length === 0))
    .filter((field) => field !== 'gpuMemoryGib' || !r?.gpuMemoryBytes)
    .map((field) => ({ path: ['spec', 'resources', field], message: 'Must be given when replicas is above 1' }))
}

function deviceViolations(spec: SpecInput, destination: Destination, executor: string): Violation[] {
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
