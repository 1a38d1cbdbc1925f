import type { Sql } from '../../platform/tx.ts'
import type { Hardware } from './machines.ts'
import type { FreeNode, Placement } from './placement.ts'

/** Reads the nodes with their free resources. `allocate` takes resources, `transition` frees them. */
export function readNodes(sql: Sql, pool: string): Promise<FreeNode[]> {
  return sql.query<FreeNode>(nodesSql, [pool], 'nodes')
}

/** If a backend does not report the CUDA versions of a GPU, the GPU supports no version that a job can request. */
const cudaSql = `CASE WHEN n.delegated AND d.cuda = '{}' THEN ARRAY['0', '0'] ELSE d.cuda END`

const nodesSql = `
SELECT n.id, n.name, n.state, CASE WHEN n.backs_off_until IS NOT NULL THEN jsonb_build_object(
    'untilMs', extract(epoch FROM n.backs_off_until) * 1000, 'because', n.backs_off_because,
    'isOver', n.backs_off_until <= berth_now(), 'probes', (
      SELECT count(DISTINCT r.id) FROM allocation a JOIN run r ON r.id = a.run_id
      WHERE (a.node_id = n.id OR n.delegated AND r.pool = n.pool) AND r.scheduled_at >= n.backs_off_until)) END AS "backOff",
  n.cpu_millis AS "cpuMillis", n.memory_bytes AS "memoryBytes", n.free_cpu_millis AS "freeCpu",
  n.free_memory_bytes AS "freeMemory", n.cpu_model AS "cpuModel", n.infiniband, n.gpu_jobs_only AS "gpuJobsOnly",
  n.infiniband AND NOT EXISTS (SELECT FROM allocation a WHERE a.node_id = n.id AND a.infiniband) AS "infinibandFree",
  (SELECT count(*)::int FROM allocation a JOIN run r ON r.id = a.run_id
    WHERE a.node_id = n.id AND r.interactive_user_id IS NOT NULL) AS interactive,
  coalesce((SELECT jsonb_agg(jsonb_build_object('index', d.device, 'model', d.model, 'memoryGib', d.memory_gib,
      'tensorCores', d.tensor_cores, 'cuda', ${cudaSql}, 'free', d.device <> ALL(taken.devices)) ORDER BY d.device)
    FROM device d WHERE d.node_id = n.id), '[]') AS devices,
  CASE WHEN n.delegated THEN jsonb_build_object('cpuMillis', n.held_cpu_millis, 'memoryBytes', n.held_memory_bytes,
    'gpus', n.held_gpus) END AS others
FROM node n CROSS JOIN LATERAL (
  SELECT n.held_gpus || ARRAY(SELECT h.device FROM held_device h WHERE h.node_id = n.id) AS devices OFFSET 0) taken
WHERE n.pool = $1 ORDER BY n.name`

/** A kind of machine of a pool; equal machines have one row. */
export interface PoolHardware extends Hardware {
  pool: string
  names: readonly string[]
}

/** Reads nodes in any state, because the state may change before the job starts. */
export const readHardware = (sql: Sql, pools: readonly string[]): Promise<PoolHardware[]> =>
  sql.query<PoolHardware>(hardwareSql, [JSON.stringify(pools)], 'hardware')

const hardwareSql = `
SELECT n.pool, n.cpu_model AS "cpuModel", n.infiniband, n.gpu_jobs_only AS "gpuJobsOnly", d.devices, array_agg(n.name) AS names
FROM node n, LATERAL (
  SELECT coalesce(jsonb_agg(jsonb_build_object('index', d.device, 'model', d.model, 'memoryGib', d.memory_gib,
    'tensorCores', d.tensor_cores, 'cuda', ${cudaSql}) ORDER BY d.device), '[]') AS devices
  FROM device d WHERE d.node_id = n.id
) d
WHERE n.pool IN (SELECT jsonb_array_elements_text($1::text::jsonb)) GROUP BY 1, 2, 3, 4, 5`

/**
 * Takes resources for runs. Database constraints refuse resources that are not free. A delegated node accepts
 * every run.
 */
export async function allocate(
  sql: Sql,
  runs: readonly { runId: string; placements: readonly Placement[] }[],
): Promise<void> {
  const rows = runs.flatMap(({ runId, placements }) =>
    placements.map(({ nodeId, replica, cpuMillis, memoryBytes, gpuIds, infiniband, provisional = false }) => ({
      run_id: runId,
      node_id: nodeId,
      replica,
      cpu: cpuMillis,
      memory: memoryBytes,
      gpu_ids: gpuIds,
      infiniband,
      provisional,
    })),
  )
  await sql.query(allocateSql, [JSON.stringify(rows)], 'allocate')
}

const allocateSql = `
WITH new AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset($1::text::jsonb)
    AS n(run_id text, node_id text, replica int, cpu int, memory bigint, gpu_ids int[], infiniband boolean, provisional boolean)
),
allocated AS (
  INSERT INTO allocation (run_id, replica, node_id, cpu_millis, memory_bytes, infiniband, provisional, gpu_slots)
  SELECT run_id, replica, node_id, cpu, memory, infiniband, provisional, CASE WHEN provisional THEN gpu_ids ELSE '{}' END
  FROM new
),
claimed AS (
  INSERT INTO device_claim (node_id, device, run_id) SELECT node_id, unnest(gpu_ids), run_id FROM new WHERE NOT provisional
)
UPDATE node SET free_cpu_millis = free_cpu_millis - taken.cpu, free_memory_bytes = free_memory_bytes - taken.memory
FROM (SELECT node_id, sum(cpu)::int AS cpu, sum(memory)::bigint AS memory FROM new GROUP BY node_id) taken
WHERE node.id = taken.node_id`
