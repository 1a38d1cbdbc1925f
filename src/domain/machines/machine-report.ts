import type { Sql } from '../../platform/tx.ts'
import { ledSql } from '../leadership.ts'

/** Load of a machine whose pool runs jobs as local processes; the leader reports it when it renews its lease. */
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
