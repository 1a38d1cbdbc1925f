import { leaseTtlMs } from '../platform/leadership.ts'
import type { Sql } from '../platform/tx.ts'

/** How a machine is that runs jobs as its own processes, as the leader of its pool says with every renewal of its lease. */
export interface MachineReport {
  /** Load average of five minutes. */
  load5: number
  memoryPercent: number
}

/** Of the pool that the default queue leads to, else of the first; null: nobody leads it, or there is none. */
export async function readMachine(sql: Sql): Promise<MachineReport | null> {
  const [row] = await sql.query<MachineReport>(machineSql, [leaseTtlMs], 'machine_report')
  return row ?? null
}

const machineSql = `
SELECT lease.load5, lease.memory_percent AS "memoryPercent"
FROM pool p JOIN scheduler_leader leader ON leader.pool = p.name JOIN scheduler_lease lease ON lease.pool = p.name
WHERE p.directory IS NOT NULL AND leader.holder IS NOT NULL
  AND lease.renewed_at > berth_now() - $1 * interval '1 millisecond' AND lease.load5 IS NOT NULL
ORDER BY NOT EXISTS (SELECT FROM submission_queue q WHERE q.pool = p.name AND q.is_default), p.name LIMIT 1`
