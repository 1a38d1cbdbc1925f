import type { Sql } from '../../platform/tx.ts'
import type { Weights } from '../accounts.ts'
import type { Rates } from '../cost.ts'
import { perDomain } from '../domain.ts'
import { InvalidInput, type Violation } from '../errors.ts'
import {
  executorDefault,
  executorsWhere,
  isDelegated,
  type SpecialField,
  specialFields,
  traitsOf,
} from '../executors.ts'
import type { SpecInput } from '../input.ts'
import type { Policy } from '../lanes.ts'
import { readNodes } from '../machines/nodes.ts'
import type { FreeNode } from '../machines/placement.ts'
import type { PoolReport } from '../machines/pool-report.ts'
import { type StoredSettings, settingsOf } from '../scheduling.ts'
import { attributeViolations, displayViolations } from './reported.ts'

/** A submission queue and the pool that it leads to. */
export interface Destination extends PoolMachines {
  queue: string
  isDefault: boolean
  pool: string
  policy: Policy
  /** In order of preference. */
  executors: readonly string[]
  relaxReplicas: boolean
  /** What the process that runs its jobs said of its executors. */
  reports: Partial<PoolReport['executors']>
  /** null: nothing is known of costs. */
  rates: Rates | null
  weights: Weights
  /** A job of a user without `unixUser` would run as root there, and the pool does not allow that. */
  unixUserRequired: boolean
  /** Accounts that its jobs never run as. */
  reservedUnixUsers: readonly string[]
  /** What no node could ever run is refused; else it waits, and its submission has a warning. */
  refuses: boolean
  /** Of each resource, for non-preemptable jobs together. */
  part: number
}

interface PoolMachines {
  /** What is free on them is not up to date. */
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
  /** Revision of the pool; it grows with every change of its machines. */
  revision: number
}

/** The machines of each pool at a revision of it: there may be thousands, which are read again only when they change. */
export type MachineMemory = Map<string, PoolMachines & { revision: number }>

export const machineMemoryOf = perDomain((): MachineMemory => new Map())

/** All destinations, the default one first. */
export async function readDestinations(sql: Sql, memory: MachineMemory): Promise<Destination[]> {
  const rows = await readRows(sql)
  const destinations: Destination[] = []
  for (const { revision, scheduling, ...destination } of rows) {
    const { onUnsatisfiable, nonPreemptableFraction: part } = settingsOf(destination.policy, scheduling)
    const machines = await machinesAt(sql, memory, { pool: destination.pool, revision })
    destinations.push({ ...destination, refuses: onUnsatisfiable === 'FAIL', part, ...machines })
  }
  return destinations
}

/** The revision was read first, so machines that changed since are read again the next time. */
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

const refuse = (path: string, message: string): InvalidInput =>
  new InvalidInput([{ path: ['spec', ...path.split('.')], message }])

export function route(spec: SpecInput, destinations: readonly Destination[]): Route {
  const destination = findDestination(spec, destinations)
  const executor = spec.executor ?? preferred(spec, destination)
  if (!destination.executors.includes(executor))
    throw refuse(
      'executor',
      `Queue ${destination.queue} has no executor ${executor}; use one of ${destination.executors.join(', ')}`,
    )
  const violations = [
    ...notHonoured(spec, executor),
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
    throw refuse('queue', `There is no queue ${queue}; use one of ${destinations.map((each) => each.queue).join(', ')}`)
  const known = [...new Set(destinations.flatMap((each) => each.executors))]
  throw refuse('executor', `No queue leads to executor ${executor}; use one of ${known.join(', ')}`)
}

/** The executor that a field of the job asks for, else the first of the pool. */
function preferred(spec: SpecInput, destination: Destination): string {
  const wanted = executorsWhere(({ preferredFor }) => preferredFor !== null && asks(spec, preferredFor.field))
  const always = wanted.find((name) => traitsOf(name).preferredFor?.when === 'ALWAYS')
  const [first = executorDefault] = destination.executors
  return always ?? wanted.find((name) => destination.executors.includes(name)) ?? first
}

function asks(spec: SpecInput, field: SpecialField): boolean {
  if (field === 'replicas') return (spec.resources?.replicas ?? 1) > 1
  const value = spec[field]
  return Array.isArray(value) ? value.length > 0 : Boolean(value)
}

function notHonoured({ launcher, ...spec }: SpecInput, executor: string): Violation[] {
  const { honours, launchers } = traitsOf(executor)
  const ignored = specialFields.filter((field) => !honours.includes(field) && asks(spec, field))
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

/** Whether a job with these fields may go to an executor whose jobs see the files of the caller. */
export const maySeeFilesOfCaller = (spec: SpecInput): boolean =>
  executorsWhere(({ sharesFiles }) => sharesFiles).some(
    (name) => (spec.executor ?? name) === name && notHonoured(spec, name).length === 0,
  )

/** An executor that gets every job with a certain field runs no job without it; one that needs a command runs no image alone. */
function missingField(spec: SpecInput, executor: string): Violation[] {
  const { preferredFor, needsCommand } = traitsOf(executor)
  if (needsCommand && !spec.command?.length && !spec.executable)
    return [{ path: ['spec', 'command'], message: `Executor ${executor} cannot see the command of an image; give it` }]
  if (preferredFor?.when !== 'ALWAYS' || asks(spec, preferredFor.field)) return []
  const { field } = preferredFor
  return [{ path: ['spec', field], message: `Executor ${executor} runs only jobs with ${field}` }]
}

function portViolations({ internalDns }: SpecInput, executor: string): Violation[] {
  if (traitsOf(executor).mapsPorts) return []
  return (internalDns?.ports ?? []).flatMap(({ port, targetPort }, index): Violation[] => {
    if ((targetPort ?? port) === port) return []
    const path = ['spec', 'internalDns', 'ports', String(index), 'targetPort']
    return [
      { path, message: `The executor ${executor} reaches a job at its own ports; it must be ${port}, or be left out` },
    ]
  })
}

function isolationViolations({ internalDns, networkIsolation }: SpecInput, executor: string): Violation[] {
  const { honours, namesIsolated } = traitsOf(executor)
  if (!internalDns || !networkIsolation || namesIsolated || !honours.includes('internalDns')) return []
  const message = `Executor ${executor} lets no job reach one with networkIsolation; leave out internalDns or networkIsolation`
  return [{ path: ['spec', 'internalDns'], message }]
}

/** A job of several copies that must work together says what it needs, unless the pool is relaxed about it. */
function gangViolations(spec: SpecInput, destination: Destination): Violation[] {
  const r = spec.resources
  if ((r?.replicas ?? 1) <= 1 || destination.relaxReplicas) return []
  return (['infiniband', 'gpu', 'gpuMemoryGib', 'gpuModel'] as const)
    .filter((field) => !r?.[field] || (Array.isArray(r[field]) && r[field].length === 0))
    .map((field) => ({ path: ['spec', 'resources', field], message: 'Must be given when replicas is above 1' }))
}

function deviceViolations(spec: SpecInput, destination: Destination, executor: string): Violation[] {
  if (spec.resources?.gpuIds && isDelegated([executor])) {
    const message = `Executor ${executor} chooses the GPUs itself; leave gpuIds out, or ask for a gpuModel`
    return [{ path: ['spec', 'resources', 'gpuIds'], message }]
  }
  const unknown = (spec.resources?.gpuIds ?? []).filter((id) => !destination.deviceIds.includes(id))
  return unknown.slice(0, 1).map((id) => ({
    path: ['spec', 'resources', 'gpuIds'],
    message: `There is no GPU ${id} in pool ${destination.pool}`,
  }))
}
