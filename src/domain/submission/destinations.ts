import type { Sql } from '../../platform/tx.ts'
import type { Weights } from '../accounts.ts'
import type { Rates } from '../cost.ts'
import { perDomain } from '../domain.ts'
import type { Policy } from '../lanes.ts'
import { readNodes } from '../machines/nodes.ts'
import type { FreeNode } from '../machines/placement.ts'
import type { PoolReport } from '../machines/pool-report.ts'
import { mergeSettings, type StoredSettings } from '../scheduling.ts'

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
  /** Physical ids of the devices of these nodes. */
  deviceIds: readonly number[]
}

interface DestinationRow extends Omit<Destination, keyof PoolMachines | 'refuses' | 'part'> {
  scheduling: StoredSettings
  /** Revision of the pool, which grows with every change of the machines. */
  revision: number
}

/** Cache of machines by pool; read again when the revision of the pool changes. */
type MachineCache = Map<string, PoolMachines & { revision: number }>

export const getMachineCache = perDomain((): MachineCache => new Map())

export async function readDestinations(sql: Sql, memory: MachineCache): Promise<Destination[]> {
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
  memory: MachineCache,
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
