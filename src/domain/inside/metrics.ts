import { z } from 'zod'
import type { Sql } from '../../platform/tx.ts'
import { InvalidInput } from '../errors.ts'

/**
 * Metrics: numbers that a run reports over its steps. A series has at most `pointsMax` points. When it is full, the
 * first point of every 2ⁿ steps stays, with the smallest n that leaves at most half of the points, and so does the last
 * point. Later reports are stored one by one until the series is full again, so its shape stays with any number of steps.
 */

export const namesMax = 64
export const pointsMax = 1_000
export const reportedMax = 1_000
/** A value without a step may follow, and gets the next step. */
const stepMax = Number.MAX_SAFE_INTEGER - 1
const count = (value: number) => value.toLocaleString('en-US')

const metric = z.object({
  name: z
    .string()
    .regex(/^[A-Za-z_][\w./-]{0,63}$/, 'must have 1 … 64 letters, digits and _ . / -, and begin with a letter or _'),
  value: z.number('must be a finite number'),
  step: z
    .int('must be a whole number 0 … 2^53 − 2')
    .min(0, 'must be a whole number 0 … 2^53 − 2')
    .max(stepMax, 'must be a whole number 0 … 2^53 − 2')
    .nullish()
    .transform((step) => step ?? null),
})
export type Metric = z.infer<typeof metric>

const keyOf = ({ name, step }: Metric) => `${name} ${step}`

export const metricList = z
  .array(metric)
  .max(reportedMax, `must have at most ${count(reportedMax)} entries`)
  .check(({ value, issues }) => {
    const seen = new Set<string>()
    for (const [i, each] of value.entries()) {
      const message = `must not repeat ${each.name} with the same step, or without one`
      if (seen.has(keyOf(each))) issues.push({ code: 'custom', message, path: [i], input: each })
      seen.add(keyOf(each))
    }
  })

export type WaitingMetrics = Map<string, Metric>

const waitingMax = 10_000

/** A newer value replaces an older one of the same name and step, or of the same name if both have no step. */
export function mergeMetrics(waiting: WaitingMetrics, newer: Iterable<Metric>): WaitingMetrics {
  for (const each of newer) {
    if (waiting.size >= waitingMax) throw tooManyWaiting()
    waiting.set(keyOf(each), each)
  }
  return waiting
}

const tooManyWaiting = () =>
  InvalidInput.at('metrics', `A run can report at most ${count(waitingMax)} values in a second; report fewer steps`)

export const makeNamesError = () => InvalidInput.at('metrics', `A run can report at most ${namesMax} names of metrics`)

export interface Reported {
  runId: string
  metrics: readonly Metric[]
}

/**
 * Stores metrics of runs whose jobs the transaction has locked. Returns the runs that would have too many names; nothing
 * is stored for them.
 */
export async function addMetrics(sql: Sql, reported: readonly Reported[]): Promise<ReadonlySet<string>> {
  const rows = reported.flatMap(({ runId, metrics }) => metrics.map((each) => ({ runId, ...each })))
  const found = await sql.query<{ runId: string; name: string | null }>(
    addSql,
    [JSON.stringify(rows), namesMax, pointsMax],
    'add_metrics',
  )
  for (const { runId, name } of found)
    if (name !== null) await sql.query(thinSql, [runId, name, pointsMax], 'thin_metric')
  return new Set(found.filter(({ name }) => name === null).map(({ runId }) => runId))
}

const newestSql = (runId: string, name: string) =>
  `SELECT p.step, p.at, p.value FROM metric_point p WHERE p.run_id = ${runId} AND p.name = ${name} ORDER BY p.step DESC LIMIT 1`

/**
 * A value without a step gets the step after the newest one. If it equals the newest value, nothing is stored: a
 * request may be repeated. Returns full series, and runs with too many names, whose name is null.
 */
const addSql = `
WITH given AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset($1::text::jsonb) AS g("runId" text, name text, step bigint, value float8)
),
crowded AS MATERIALIZED (
  SELECT named."runId" FROM (
    SELECT "runId", name FROM given
    UNION SELECT run_id, name FROM run_metric WHERE run_id IN (SELECT "runId" FROM given)
  ) named GROUP BY 1 HAVING count(*) > $2::int
),
placed AS MATERIALIZED (
  SELECT g."runId", g.name, g.value,
    coalesce(g.step, least(${Number.MAX_SAFE_INTEGER},
      coalesce(greatest(newest.step, max(g.step) OVER (PARTITION BY g."runId", g.name)), 0) + 1)) AS step
  FROM given g LEFT JOIN LATERAL (${newestSql('g."runId"', 'g.name')}) newest ON true
  WHERE g."runId" NOT IN (SELECT "runId" FROM crowded) AND (g.step IS NOT NULL OR g.value IS DISTINCT FROM newest.value)
),
counted AS (
  INSERT INTO run_metric AS m (run_id, name, count) SELECT "runId", name, count(*) FROM placed GROUP BY 1, 2
  ON CONFLICT (run_id, name) DO UPDATE SET count = m.count + excluded.count
  RETURNING m.run_id, m.name, m.count
),
stored AS (
  INSERT INTO metric_point AS p (run_id, name, step, at, value) SELECT "runId", name, step, berth_now(), value FROM placed
  ON CONFLICT (run_id, name, step) DO UPDATE SET at = excluded.at, value = excluded.value WHERE p.value <> excluded.value
)
SELECT run_id AS "runId", name FROM counted WHERE count > $3::int UNION ALL SELECT "runId", NULL FROM crowded`

const thinSql = `
WITH own AS MATERIALIZED (SELECT step FROM metric_point WHERE run_id = $1 AND name = $2),
width AS MATERIALIZED (
  SELECT n FROM generate_series(0, 53) n
  WHERE (SELECT count(DISTINCT step >> n) FROM own) <= CASE WHEN (SELECT count(*) FROM own) > $3::int THEN $3::int / 2 ELSE $3::int END
  ORDER BY n LIMIT 1
),
kept AS MATERIALIZED (
  SELECT min(step) AS step FROM own, width GROUP BY step >> n UNION SELECT max(step) FROM own
),
thinned AS (
  DELETE FROM metric_point WHERE run_id = $1 AND name = $2 AND step NOT IN (SELECT step FROM kept)
)
UPDATE run_metric SET count = (SELECT count(*) FROM kept) WHERE run_id = $1 AND name = $2`

export interface MetricPoint {
  step: number
  at: Date
  value: number
}

export interface RunMetric extends MetricPoint {
  runId: string
  name: string
}

/** The metrics of runs by name, each with its last point. */
export const readMetrics = (sql: Sql, runIds: readonly string[]): Promise<RunMetric[]> =>
  sql.query(
    `SELECT m.run_id AS "runId", m.name, newest.* FROM run_metric m CROSS JOIN LATERAL (${newestSql('m.run_id', 'm.name')}) newest
     WHERE m.run_id = ANY($1::text[]) ORDER BY m.run_id, m.name`,
    [runIds],
    'run_metrics',
  )

/** At most `points` points of each metric, 2 or more, in the order of their steps: the first, the last, and every nth between. */
export const readMetricPoints = (
  sql: Sql,
  metrics: readonly Pick<RunMetric, 'runId' | 'name'>[],
  points: number,
): Promise<RunMetric[]> =>
  sql.query(pointsSql, [metrics.map(({ runId }) => runId), metrics.map(({ name }) => name), points], 'metric_points')

const pointsSql = `
SELECT "runId", name, step, at, value FROM (
  SELECT p.run_id AS "runId", p.name, p.step, p.at, p.value,
    row_number() OVER series AS place, count(*) OVER (PARTITION BY p.run_id, p.name) AS count
  FROM metric_point p JOIN unnest($1::text[], $2::text[]) AS w(run_id, name) USING (run_id, name)
  WINDOW series AS (PARTITION BY p.run_id, p.name ORDER BY p.step DESC)
) numbered
WHERE place = count OR (place - 1) % ceil(count / ($3::float8 - 1))::int = 0 ORDER BY 1, 2, 3`
