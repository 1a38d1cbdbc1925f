import type { Sql } from '../../platform/tx.ts'
import { announceRuns } from '../changes.ts'
import { lockPool } from '../limits/limits.ts'
import { type Book, type Booking, type Chosen, listRebookings } from './rebooking.ts'

export interface ChosenNodes {
  runId: string
  chosen: readonly Chosen[]
}

/** Moves allocations to the nodes that the backend chose, in the open transaction of the leader. */
export async function rebook(sql: Sql, pool: string, runs: readonly ChosenNodes[]): Promise<void> {
  await lockPool(sql, pool)
  const chosen = new Map(runs.map((run) => [run.runId, run.chosen]))
  const names = [...new Set(runs.flatMap((run) => run.chosen.map(({ node }) => node)))]
  // Locks the nodes before reading their runs: a run that ends meanwhile waits, and then frees resources on the node
  // to which it was moved.
  const locked = await sql.query<{ id: string }>(lockSql, [pool, names, [...chosen.keys()]], 'lock_chosen_nodes')
  const books = await sql.query<Book>(booksSql, [locked.map(({ id }) => id)], 'books')
  const changed = listRebookings(books, chosen)
  if (changed.length === 0) return
  const before = new Map(books.flatMap(({ bookings }) => bookings.map((each) => [keyOf(each), each])))
  const rows = changed.map((each) => ({ ...each, was: before.get(keyOf(each)) }))
  await sql.query(moveSql, [JSON.stringify(rows)], 'rebook')
  await announceRuns(sql, pool, [...new Set(changed.map(({ runId }) => runId))])
}

const keyOf = ({ runId, replica }: Booking): string => `${runId}/${replica}`

const lockSql = `
SELECT id FROM node n WHERE n.pool = $1 AND n.delegated AND (n.name = ANY($2::text[])
  OR EXISTS (SELECT FROM allocation a WHERE a.node_id = n.id AND a.run_id = ANY($3::text[])))
ORDER BY id FOR UPDATE`

const booksSql = `
SELECT n.id, n.name, n.cpu_millis - n.held_cpu_millis AS cpu, n.memory_bytes - n.held_memory_bytes AS memory,
  n.gpu_jobs_only AS "gpuJobsOnly", ARRAY(SELECT d.device FROM device d WHERE d.node_id = n.id AND d.device <> ALL(n.held_gpus) ORDER BY 1) AS devices,
  coalesce((SELECT jsonb_agg(jsonb_build_object('runId', a.run_id, 'replica', a.replica, 'nodeId', a.node_id, 'cpu', a.cpu_millis,
      'memory', a.memory_bytes, 'slots', a.gpu_slots, 'provisional', a.provisional, 'gpuIds', a.gpu_ids,
      'exclusive', coalesce((l.shape->>'exclusive')::boolean, false)) ORDER BY r.scheduled_at, r.id, a.replica)
    FROM allocation a JOIN run r ON r.id = a.run_id JOIN job j ON j.id = r.job_id JOIN lane l ON l.id = j.lane_id
    WHERE a.node_id = n.id), '[]') AS bookings
FROM node n WHERE n.id = ANY($1::text[]) ORDER BY n.id`

/** Changes no node for a run that ended meanwhile, because its allocation is gone. */
const moveSql = `
WITH new AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset($1::text::jsonb) AS n("runId" text, replica int, "nodeId" text, cpu int, memory bigint,
    slots int[], provisional boolean, "gpuIds" int[], was jsonb)
),
moved AS (
  UPDATE allocation a SET node_id = n."nodeId", cpu_millis = n.cpu, memory_bytes = n.memory, gpu_slots = n.slots,
    provisional = n.provisional, gpu_ids = n."gpuIds"
  FROM new n WHERE a.run_id = n."runId" AND a.replica = n.replica RETURNING n.*
),
change AS (
  SELECT node_id, sum(cpu)::int AS cpu, sum(memory)::bigint AS memory FROM (
    SELECT "nodeId" AS node_id, -cpu AS cpu, -memory AS memory FROM moved
    UNION ALL SELECT was->>'nodeId', (was->>'cpu')::int, (was->>'memory')::bigint FROM moved
  ) each GROUP BY 1
)
UPDATE node SET free_cpu_millis = free_cpu_millis + c.cpu, free_memory_bytes = free_memory_bytes + c.memory
FROM change c WHERE node.id = c.node_id AND (c.cpu <> 0 OR c.memory <> 0)`
