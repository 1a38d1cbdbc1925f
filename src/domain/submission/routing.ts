import type { Sql } from '../../platform/tx.ts'
import type { Weights } from '../accounts.ts'
import type { Rates } from '../cost.ts'
import { perDomain } from '../domain.ts'
import { InvalidInput, type Violation } from '../errors.ts'
import {
  executorDefault,
  executorsWhere,
  findTraits,
  isDelegated,
  type SpecialField,
  specialFields,
} from '../executors.ts'
import type { SpecInput } from '../input.ts'
import type { Policy } from '../lanes.ts'
import { readNodes } from '../machines/nodes.ts'
import type { FreeNode } from '../machines/placement.ts'
import type { PoolReport } from '../machines/pool-report.ts'
import { mergeSettings, type StoredSettings } from '../scheduling.ts'
import { attributeViolations, displayViolations } from './reported.ts'

export interface Destination extends PoolMachines {
  queue: string
  isDefault: boolean
  pool: string
  policy: Policy
  /** Executors of the pool, the preferred one first. */
  executors: readonly string[]
  relaxReplicas: boolean
  reports: Partial<PoolReport['executors']>
  /** null: costs are unknown. */
  rates: Rates | null
  weights: Weights
  /** true: the executor would run jobs of users without `unixUser` as root, and the pool does not allow that. */
  unixUserRequired: boolean
  reservedUnixUsers: readonly string[]
  /** true: a job that no node could ever run is refused; false: it waits, with a warning. */
  refuses: boolean
  /** Fraction of each resource that all non-preemptable jobs together may use. */
  part: number
}

interface PoolMachines {
  /** Nodes of the pool. Their free resources may be out of date. */
  nodes: readonly FreeNode[]
  /** Physical ids of their devices. */
  deviceIds: readonly number[]
}

export interface Route {
  queue: string
  pool: string
  policy: Policy
  executor: string
}

interface DestinationRow extends Omit<Destination, keyof PoolMachines | 'refuses' | 'part'> {
  scheduling: StoredSettings
  /** Revision of the pool when the machines were read; it grows with every change of the machines. */
  revision: number
}

/** Machines by pool, read again when the revision of the pool changes. */
type MachineMemory = Map<string, PoolMachines & { revision: number }>

export const getMachineMemory = perDomain((): MachineMemory => new Map())

export async function readDestinations(sql: Sql, memory: MachineMemory): Promise<Destination[]> {
  const rows = await readRows(sql)
  const destinations: Destination[] = []
  for (const { revision, scheduling, ...destination } of rows) {
    const { onUnsatisfiable, nonPreemptableFraction: part } = mergeSettings(destination.policy, scheduling)
    const machines = await machinesAt(sql, memory, { pool: destination.pool, revision })
    destinations.push({ ...destination, refuses: onUnsatisfiable === 'FAIL', part, ...machines })
  }
  return destinations
}

/** The revision was read before the machines, so machines that changed in between are read again later. */
async function machinesAt(
  sql: Sql,
  memory: MachineMemory,
  { pool, revision }: Pick<DestinationRow, 'pool' | 'revision'>,
): Promise<PoolMachines> {
  const known = memory.get(pool)
  if (known?.revision === revision) return known
  const nodes = await readNodes(sql, pool)
  const deviceIds = [...new Set(nodes.flatMap(({ devices }) => devices.map(({ index }) => index)))]
  memory.set(pool, { revision, nodes, deviceIds })
  return { nodes, deviceIds }
}

function readRows(sql: Sql): Promise<DestinationRow[]> {
  return sql.query<DestinationRow>(
    `SELECT q.name AS queue, q.is_default AS "isDefault", q.pool, p.policy::text AS policy, p.executors, p.relax_replicas AS "relaxReplicas", p.executor_reports AS reports, p.rates, p.weights,
       p.unix_user_required AS "unixUserRequired", p.reserved_unix_users AS "reservedUnixUsers",
       p.scheduling, p.revision
     FROM submission_queue q JOIN pool p ON p.name = q.pool
     ORDER BY q.is_default DESC, q.position`,
    [],
    'destinations',
  )
}

export function routeSpec(spec: SpecInput, destinations: readonly Destination[]): Route {
  const destination = findDestination(spec, destinations)
  const executor = spec.executor ?? preferred(spec, destination)
  if (!destination.executors.includes(executor))
    throw InvalidInput.at(
      'spec.executor',
      `Queue ${destination.queue} has no executor ${executor}; use one of ${destination.executors.join(', ')}`,
    )
  const violations = [
    ...unsupportedFields(spec, executor),
    ...missingField(spec, executor),
    ...portViolations(spec, executor),
    ...isolationViolations(spec, executor),
    ...gangViolations(spec, destination),
    ...deviceViolations(spec, destination, executor),
    ...attributeViolations(spec, destination.reports[executor], executor),
    ...displayViolations(spec, destination.reports[executor], executor),
  ]
  if (violations.length > 0) throw new InvalidInput(violations)
  return { queue: destination.queue, pool: destination.pool, policy: destination.policy, executor }
}

function findDestination(spec: SpecInput, destinations: readonly Destination[]): Destination {
  const { queue, executor } = spec
  const destination = queue
    ? destinations.find((candidate) => candidate.queue === queue)
    : destinations.find((candidate) => !executor || candidate.executors.includes(executor))
  if (destination) return destination
  if (queue)
    throw InvalidInput.at(
      'spec.queue',
      `Queue ${queue} does not exist; use one of ${destinations.map((each) => each.queue).join(', ')}`,
    )
  const known = [...new Set(destinations.flatMap((each) => each.executors))]
  throw InvalidInput.at('spec.executor', `No queue leads to executor ${executor}; use one of ${known.join(', ')}`)
}

/** The executor that a field of the job requires, else the first of the pool. */
function preferred(spec: SpecInput, destination: Destination): string {
  const wanted = executorsWhere(({ preferredFor }) => preferredFor !== null && requests(spec, preferredFor.field))
  const always = wanted.find((name) => findTraits(name).preferredFor?.when === 'ALWAYS')
  const [first = executorDefault] = destination.executors
  return always ?? wanted.find((name) => destination.executors.includes(name)) ?? first
}

function requests(spec: SpecInput, field: SpecialField): boolean {
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
