import type { Sql } from '../../platform/tx.ts'

/**
 * Samples of runs: resources in use over time. Older samples of a running run are merged into longer intervals, so a
 * run has at most a few thousand; those of a run that is over stay as they are.
 */

export interface RunSample {
  runId: string
  /** Cores in use on average since the last sample; null: not measured. */
  cpuCores: number | null
  memoryBytes: number | null
  /** Average over the GPUs of the run, 0 … 100. */
  gpuPercent: number | null
  gpuMemoryBytes: number | null
}

export const sampleSeconds = 10

/** Samples older than `afterSeconds` are merged into intervals of `to` seconds. */
const merges = [
  { from: sampleSeconds, to: 60, afterSeconds: 3_600 },
  { from: 60, to: 600, afterSeconds: 86_400 },
  { from: 600, to: 3_600, afterSeconds: 2_592_000 },
] as const

/** Ignores samples of runs that were deleted meanwhile. */
export async function saveSamples(sql: Sql, samples: readonly RunSample[]): Promise<void> {
  await sql.query(
    `INSERT INTO run_sample (run_id, seconds, at, cpu_cores, memory_bytes, gpu_percent, gpu_memory_bytes)
     SELECT r.id, $2::int, now.at, s."cpuCores", s."memoryBytes", s."gpuPercent", s."gpuMemoryBytes"
     FROM (SELECT berth_now() AS at OFFSET 0) now CROSS JOIN jsonb_to_recordset($1::text::jsonb)
       AS s("runId" text, "cpuCores" real, "memoryBytes" bigint, "gpuPercent" real, "gpuMemoryBytes" bigint)
     JOIN run r ON r.id = s."runId"
     ON CONFLICT DO NOTHING`,
    [JSON.stringify(samples), sampleSeconds],
    'save_samples',
  )
}

/** Merges old samples of these runs. Only complete intervals are merged, so each is merged once. */
export async function mergeSamples(sql: Sql, runIds: readonly string[]): Promise<void> {
  for (const { from, to, afterSeconds } of merges)
    await sql.query(mergeSql, [runIds, from, to, afterSeconds], 'merge_samples')
}

const intervalSql = (at: string) => `date_bin($3::int * interval '1 second', ${at}, to_timestamp(0))`

const mergeSql = `
WITH old AS (
  DELETE FROM run_sample WHERE run_id = ANY($1::text[]) AND seconds = $2::int
    AND at < (SELECT ${intervalSql("berth_now() - $4::int * interval '1 second'")})
  RETURNING *
)
INSERT INTO run_sample (run_id, seconds, at, cpu_cores, memory_bytes, gpu_percent, gpu_memory_bytes)
SELECT run_id, $3::int, max(at), avg(cpu_cores), max(memory_bytes), avg(gpu_percent), max(gpu_memory_bytes)
FROM old GROUP BY run_id, ${intervalSql('at')}
ON CONFLICT DO NOTHING`

export async function removeSamples(sql: Sql, jobIds: readonly string[]): Promise<void> {
  await sql.query(
    'DELETE FROM run_sample USING run WHERE run.job_id = ANY($1::text[]) AND run_sample.run_id = run.id',
    [jobIds],
  )
}

export interface SamplePoint extends Omit<RunSample, 'runId'> {
  at: Date
}

export const samplePointsMax = 1_000

/**
 * At most `points` points of each run in order of time. If there are more samples, each point stands for an equal part
 * of the time: the average of processor and GPU use, and the most memory.
 */
export async function readSamples(
  sql: Sql,
  runIds: readonly string[],
  points: number,
): Promise<ReadonlyMap<string, SamplePoint[]>> {
  const rows = await sql.query<SamplePoint & { runId: string }>(readSql, [runIds, points], 'run_samples')
  return Map.groupBy(rows, ({ runId }) => runId)
}

const weighted = (column: string) => `sum(${column} * s.seconds) / sum(s.seconds) FILTER (WHERE ${column} IS NOT NULL)`

const readSql = `
SELECT r.id AS "runId", point.* FROM unnest($1::text[]) AS r(id) CROSS JOIN LATERAL (
WITH own AS MATERIALIZED (SELECT * FROM run_sample WHERE run_id = r.id),
span AS (
  SELECT min(at) AS begins, greatest(extract(epoch FROM max(at) - min(at)), 1)::float8 AS seconds, count(*) <= $2::int AS fits
  FROM own
),
placed AS (
  SELECT own.*, CASE WHEN span.fits THEN row_number() OVER (ORDER BY own.at)
    ELSE least($2::int - 1, floor(extract(epoch FROM own.at - span.begins)::float8 / span.seconds * $2::int)) END AS place
  FROM own, span
)
SELECT max(s.at) AS at, ${weighted('s.cpu_cores')} AS "cpuCores", max(s.memory_bytes) AS "memoryBytes",
  ${weighted('s.gpu_percent')} AS "gpuPercent", max(s.gpu_memory_bytes) AS "gpuMemoryBytes"
FROM placed s GROUP BY s.place
) point ORDER BY r.id, point.at`
