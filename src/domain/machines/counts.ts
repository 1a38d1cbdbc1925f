import type { Sql } from '../../platform/tx.ts'

/** How many objects of the configuration and machines exist; lists of them are no longer. */
export interface MachineCounts {
  pools: number
  submissionQueues: number
  /** Nodes of the largest pool. */
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
