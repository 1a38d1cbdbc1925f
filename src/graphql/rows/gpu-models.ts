import { type Viewer, visibleTo } from '../../domain/access.ts'
import type { Sql } from '../../platform/tx.ts'
import type { Bind } from './keyset.ts'

/** GPUs of one model in a pool, and the users whose runs hold them. */
export interface GpuModelRow {
  pool: string
  model: string
  memoryGib: number
  count: number
  allocated: number
  byUser: { userId: string; count: number }[]
}

export const gpuModelsMax = 100
export const usersOfModelMax = 100

export function readGpuModels(sql: Sql, viewer: Viewer, pools: readonly string[]): Promise<GpuModelRow[]> {
  const values: unknown[] = [pools]
  const visible = visibleTo(viewer, 'j', (value) => `$${values.push(value)}`)
  return sql.query<GpuModelRow>(modelsSql(visible), values)
}

const modelsSql = (visible: ReturnType<Bind>) => `
WITH gpu AS MATERIALIZED (
  SELECT n.pool, d.model, d.memory_gib, d.node_id, d.device, h.run_id,
    h.run_id IS NOT NULL OR d.device = ANY(n.held_gpus) AS allocated
  FROM node n JOIN device d ON d.node_id = n.id
  LEFT JOIN held_device h ON h.node_id = d.node_id AND h.device = d.device
  WHERE n.pool = ANY($1::text[])
),
holder AS (
  SELECT *, row_number() OVER (PARTITION BY pool, model, memory_gib ORDER BY count DESC, user_id) AS place FROM (
    SELECT g.pool, g.model, g.memory_gib, j.user_id, count(*)::int AS count
    FROM gpu g JOIN run r ON r.id = g.run_id JOIN job j ON j.id = r.job_id WHERE ${visible} GROUP BY 1, 2, 3, 4) each
)
SELECT pool, model, "memoryGib", count, allocated, "byUser" FROM (
  SELECT g.pool, g.model, g.memory_gib AS "memoryGib", count(DISTINCT (node_id, device))::int AS count,
    (count(DISTINCT (node_id, device)) FILTER (WHERE allocated))::int AS allocated,
    (SELECT coalesce(jsonb_agg(jsonb_build_object('userId', h.user_id, 'count', h.count) ORDER BY h.place), '[]')
      FROM holder h WHERE (h.pool, h.model, h.memory_gib) = (g.pool, g.model, g.memory_gib) AND h.place <= ${usersOfModelMax}) AS "byUser",
    row_number() OVER (PARTITION BY g.pool ORDER BY count(*) DESC, g.model, g.memory_gib) AS place
  FROM gpu g GROUP BY g.pool, g.model, g.memory_gib
) models WHERE place <= ${gpuModelsMax} ORDER BY pool, place`
