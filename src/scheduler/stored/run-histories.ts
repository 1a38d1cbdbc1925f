import type { Lane } from '../../domain/lanes.ts'
import type { JobSpec } from '../../domain/spec.ts'
import type { Sql } from '../../platform/tx.ts'
import { historyMax } from '../plan/run-times.ts'

const runsMax = 5_000

/**
 * SQL of the kinds of a job, the most precise first. Jobs of the same user and size take about the same time if they
 * belong to one sweep, have the same name, or run the same command.
 */
const kindsSql = `array_remove(ARRAY[
  CASE WHEN j.labels ? 'sweep' THEN json_build_array('sweep', j.labels->>'sweep', j.user_id, j.cpu_millis, j.memory_bytes, j.gpu)::text END,
  CASE WHEN j.name IS NOT NULL THEN json_build_array('name', j.name, j.user_id, j.cpu_millis, j.memory_bytes, j.gpu)::text END,
  json_build_array('command', md5(concat_ws(' ', j.spec->>'command', j.spec->>'executable', j.spec->>'arguments', j.spec->>'handler',
    j.spec->>'image')), j.user_id, j.cpu_millis, j.memory_bytes, j.gpu)::text], NULL)`

export const ranMsSql = '(extract(epoch FROM r.finished_at - r.started_at) * 1000)::float8'
/** SQL condition: the run ended by itself. */
export const endedSql = `r.state IN ('SUCCEEDED', 'FAILED') AND r.started_at IS NOT NULL AND r.finished_at IS NOT NULL`

/** Reads run times in milliseconds, by kind, of the latest runs that ended by themselves. */
export async function readHistories(sql: Sql, pool: string): Promise<ReadonlyMap<string, readonly number[]>> {
  const rows = await sql.query<{ kind: string; history: number[] }>(
    historySql,
    [pool, runsMax, historyMax],
    'histories',
  )
  return new Map(rows.map(({ kind, history }) => [kind, history]))
}

const historySql = `
SELECT kind, array_agg(ms) AS history FROM (
  SELECT kind, ms, row_number() OVER (PARTITION BY kind ORDER BY scheduled_at DESC) AS place FROM (
    SELECT unnest(${kindsSql}) AS kind, r.scheduled_at, ${ranMsSql} AS ms
    FROM (SELECT * FROM run WHERE pool = $1 AND scheduled_at IS NOT NULL ORDER BY scheduled_at DESC LIMIT $2) r
    JOIN job j ON j.id = r.job_id WHERE ${endedSql}
  ) run
) latest WHERE place <= $3 GROUP BY kind`

export async function readKindsOfSpec(sql: Sql, { userId, shape }: Lane, spec: JobSpec): Promise<readonly string[]> {
  const { gpu, cpuMillis, memoryBytes, copies } = shape
  const labels = Object.fromEntries(spec.labels.map(({ key, value }) => [key, value]))
  const job = {
    user_id: userId,
    name: spec.name,
    labels,
    spec,
    cpu_millis: cpuMillis * copies,
    memory_bytes: memoryBytes * copies,
    gpu: gpu * copies,
  }
  const [row] = await sql.query<{ kinds: string[] }>(
    `SELECT ${kindsSql} AS kinds FROM jsonb_to_record($1::text::jsonb)
       AS j(user_id text, name text, labels jsonb, spec jsonb, cpu_millis int, memory_bytes bigint, gpu int)`,
    [JSON.stringify(job)],
    'kinds_of_spec',
  )
  return row?.kinds ?? []
}

export async function readKinds(sql: Sql, jobIds: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
  if (jobIds.length === 0) return new Map()
  const rows = await sql.query<{ id: string; kinds: string[] }>(
    `SELECT j.id, ${kindsSql} AS kinds FROM job j WHERE j.id = ANY($1::text[])`,
    [jobIds],
    'kinds_of_jobs',
  )
  return new Map(rows.map(({ id, kinds }) => [id, kinds]))
}
