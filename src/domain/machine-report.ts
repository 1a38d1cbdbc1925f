import type { Sql } from '../platform/tx.ts'

/** How a machine is that runs jobs as its own processes: the leader of its pool reports it, and everybody may read it. */
export interface MachineReport {
  /** Load average of five minutes. */
  load5: number
  memoryPercent: number
}

/** In the open transaction of the leader. Of a pool whose nodes are other machines it says nothing. */
export async function reportMachine(sql: Sql, pool: string, { load5, memoryPercent }: MachineReport): Promise<void> {
  await sql.query(
    `UPDATE node SET last_seen_at = berth_now(), load5 = $2, memory_percent = $3
     FROM pool WHERE pool.name = $1 AND node.pool = pool.name AND pool.machine IS NOT NULL`,
    [pool, load5, memoryPercent],
    'report_machine',
  )
}

/** An older report says nothing about now. */
const reportSecondsMax = 30

/** Of the pool that the default queue leads to, else of the first; null: nobody leads it, or there is none. */
export async function readMachine(sql: Sql): Promise<MachineReport | null> {
  const [row] = await sql.query<MachineReport>(machineSql, [reportSecondsMax], 'machine_report')
  return row ?? null
}

const machineSql = `
SELECT n.load5, n.memory_percent AS "memoryPercent" FROM pool p JOIN node n ON n.pool = p.name
WHERE p.machine IS NOT NULL AND n.last_seen_at > berth_now() - $1 * interval '1 second'
ORDER BY NOT EXISTS (SELECT FROM submission_queue q WHERE q.pool = p.name AND q.is_default), p.name LIMIT 1`
