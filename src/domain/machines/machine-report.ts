import type { Sql } from '../../platform/tx.ts'
import { leaseTtlMs, ledSql } from '../leadership.ts'

/** Load of a machine that runs jobs as its own processes, as its leader reports it with its lease. */
export interface MachineReport {
  load5: number
  memoryPercent: number
}

/** The machine of the default queue's pool, else of the first pool; null: no leader, or no such pool. */
export async function readMachine(sql: Sql): Promise<MachineReport | null> {
  const [row] = await sql.query<MachineReport>(machineSql, [], 'machine_report')
  return row ?? null
}

const isDefaultSql = 'EXISTS (SELECT FROM submission_queue q WHERE q.pool = p.name AND q.is_default)'

const machineSql = `
SELECT lease.load5, lease.memory_percent AS "memoryPercent"
FROM pool p JOIN scheduler_leader leader ON leader.pool = p.name JOIN scheduler_lease lease ON lease.pool = p.name
WHERE p.directory IS NOT NULL AND ${ledSql} AND lease.load5 IS NOT NULL
ORDER BY NOT ${isDefaultSql}, p.name LIMIT 1`

export interface MachineGpu {
  index: number
  /** A run holds it. */
  taken: boolean
}

/** GPUs of that machine, with or without a leader; without a local pool, GPUs of the only node that has some. */
export const readMachineGpus = (sql: Sql): Promise<MachineGpu[]> =>
  sql.query<MachineGpu>(gpusSql, [leaseTtlMs], 'machine_gpus')

const gpusSql = `
WITH machine AS (
  SELECT n.id FROM pool p JOIN node n ON n.pool = p.name LEFT JOIN scheduler_lease lease ON lease.pool = p.name
  WHERE p.directory IS NOT NULL
  ORDER BY coalesce(lease.renewed_at, '-infinity') <= berth_now() - $1 * interval '1 millisecond', NOT ${isDefaultSql}, p.name LIMIT 1
)
SELECT d.device AS index, c.run_id IS NOT NULL AS taken
FROM device d LEFT JOIN device_claim c ON c.node_id = d.node_id AND c.device = d.device
WHERE d.node_id = coalesce((SELECT id FROM machine), (SELECT min(node_id) FROM device HAVING count(DISTINCT node_id) = 1))
ORDER BY d.device`
