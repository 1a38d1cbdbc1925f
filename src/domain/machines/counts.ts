import type { Sql } from '../../platform/tx.ts'

/** Numbers of pools, queues and machines: upper bounds for the lengths of their lists. */
export interface MachineCounts {
  pools: number
  submissionQueues: number
  nodesPerPool: number
  gpus: number
  /** GPUs of the node with the most. */
  gpusPerNode: number
}

export async function countMachines(sql: Sql): Promise<MachineCounts> {
  const [counts] = await sql.query<MachineCounts>(countsSql, [], 'machine_counts')
  if (!counts) throw new Error('The count of the machines has no row')
  return counts
}

const countsSql = `
SELECT (SELECT count(*) FROM pool) AS pools, (SELECT count(*) FROM submission_queue) AS "submissionQueues",
  (SELECT coalesce(max(count), 0) FROM (SELECT count(*) FROM node GROUP BY pool) n) AS "nodesPerPool",
  coalesce(sum(count), 0)::bigint AS gpus, coalesce(max(count), 0) AS "gpusPerNode"
FROM (SELECT count(*) FROM device GROUP BY node_id) d`
