import { removeInBatches } from '../../platform/remove-in-batches.ts'
import type { Sql } from '../../platform/tx.ts'
import type { Domain } from '../domain.ts'
import { finalSql, holdingSql } from '../state.ts'
import { countWaitSql } from './waits.ts'

/**
 * Use of a pool over time. Once a minute its leader stores what the jobs of each user, account, team and queue hold and
 * how many wait, as integrals, and counts the starts and ends since the last time. Rows of minutes become rows of
 * hours. They name no job, so the deletion of jobs does not change them.
 */

export const minuteSeconds = 60
export const hourSeconds = 3_600
/** Age at which rows of minutes are merged into rows of hours. */
const minuteHoursKept = 48
/** Maximum events per measurement; the next measurement counts the others. */
const eventsMax = 200_000
/** In a longer queue, waiting jobs are read from the counts of lanes that the leader published last. */
const shortMax = 20_000

/**
 * Measures the pool now. Starts and ends are read from the feed after the last position, so each is counted
 * once, also if it was stored late or by another leader.
 */
export async function measurePool(sql: Sql, pool: string): Promise<void> {
  await sql.query(measureSql, [pool, minuteSeconds, eventsMax, shortMax], 'measure_pool')
}

const keys = 'user_id, account, team_id, queue'
const jobKeys = `j.user_id, j.account, coalesce(j.team_id, '') AS team_id, j.queue`
const sums = [
  'running_seconds',
  'queued_seconds',
  'blocked_seconds',
  'cpu_seconds',
  'gpu_seconds',
  'memory_byte_seconds',
  'started',
  'finished',
  'failed',
  'cost',
  'waits',
] as const
const measuredSums = ['measured_seconds', 'cpu_seconds', 'gpu_seconds', 'memory_byte_seconds'] as const
const addTo = (table: string, columns: readonly string[]) =>
  columns.map((column) => `${column} = ${table}.${column} + excluded.${column}`).join(', ')

/** If a new leader measures a minute again, only starts and ends are added, so no second counts twice. */
const measureSql = `
WITH minute AS (SELECT date_bin('1 minute', berth_now(), to_timestamp(0)) AS at),
period AS MATERIALIZED (
  SELECT at, CASE WHEN EXISTS (SELECT FROM pool_period p WHERE p.pool = $1 AND p.seconds = $2::int AND p.at = minute.at)
    THEN 0 ELSE $2::int END AS measured FROM minute
),
mark AS MATERIALIZED (
  SELECT last.position AS begins, least(head.position, last.position + $3::int) AS ends FROM feed_head head
  CROSS JOIN LATERAL (SELECT coalesce((SELECT max(p.position) FROM pool_period p WHERE p.pool = $1), head.position) AS position) last
),
long AS MATERIALIZED (
  SELECT coalesce(sum(entries), 0) > $4::int AS is_long FROM queue_tally WHERE pool = $1
),
fact AS (
  SELECT ${jobKeys}, 1 AS running, 0 AS queued, 0 AS blocked, a.cpu, g.gpu, a.memory,
    0 AS started, 0 AS finished, 0 AS failed, 0::float8 AS cost, 0::numeric AS waits
  FROM run r JOIN job j ON j.id = r.job_id
  CROSS JOIN LATERAL (SELECT coalesce(sum(cpu_millis), 0) / 1000.0 AS cpu, coalesce(sum(memory_bytes), 0) AS memory
    FROM allocation WHERE run_id = r.id) a
  CROSS JOIN LATERAL (SELECT count(*) AS gpu FROM held_device WHERE run_id = r.id) g
  WHERE r.pool = $1 AND r.state IN ${holdingSql}
  UNION ALL
  SELECT ${jobKeys}, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0
  FROM long JOIN queue_entry q ON q.pool = $1 AND NOT long.is_long JOIN job j ON j.id = q.job_id
  UNION ALL
  SELECT ${jobKeys}, 0, v.waiting, 0, 0, 0, 0, 0, 0, 0, 0, 0
  FROM long JOIN lane_view v ON v.pool = $1 AND long.is_long JOIN job j ON j.id = v.head_job_id
  UNION ALL
  SELECT ${jobKeys}, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0
  FROM approval a JOIN job j ON j.id = a.job_id WHERE a.status = 'PENDING' AND j.state = 'BLOCKED' AND j.pool = $1
  UNION ALL
  SELECT ${jobKeys}, 0, 0, 0, 0, 0, 0,
    (e.to_state = 'STARTING')::int, (e.to_state IN ${finalSql})::int, (e.to_state = 'FAILED')::int,
    CASE WHEN e.to_state IN ${finalSql} THEN coalesce(j.cost, 0) ELSE 0 END,
    CASE WHEN r.id IS NULL THEN 0 ELSE ${countWaitSql('w.seconds')} END
  FROM mark JOIN event e ON e.position > mark.begins AND e.position <= mark.ends JOIN job j ON j.id = e.job_id
  LEFT JOIN run r ON e.to_state = 'STARTING' AND r.job_id = e.job_id AND r.number = e.run AND r.scheduled_at IS NOT NULL
  CROSS JOIN LATERAL (
    SELECT greatest(extract(epoch FROM r.scheduled_at - greatest(j.eligible_at, r.created_at)), 0)::float8 AS seconds) w
  WHERE (e.to_state = 'STARTING' OR e.to_state IN ${finalSql}) AND j.pool = $1
),
used AS (
  INSERT INTO pool_use (pool, seconds, at, ${keys}, ${sums.join(', ')})
  SELECT $1, $2::int, period.at, ${keys}, sum(running) * measured, sum(queued) * measured, sum(blocked) * measured,
    sum(cpu) * measured, sum(gpu) * measured, sum(memory) * measured,
    sum(started), sum(finished), sum(failed), sum(fact.cost), sum(waits)
  FROM fact, period GROUP BY period.at, measured, ${keys}
  ON CONFLICT (pool, seconds, at, ${keys}) DO UPDATE
  SET ${addTo('pool_use', sums)}
)
INSERT INTO pool_period (pool, seconds, at, measured_seconds, cpu_seconds, gpu_seconds, memory_byte_seconds, position)
SELECT $1, $2::int, period.at, measured, n.cpu * measured, n.gpu * measured, n.memory * measured, mark.ends
FROM mark, period, (
  SELECT coalesce(sum(cpu_millis), 0) / 1000.0 AS cpu, coalesce(sum(memory_bytes), 0) AS memory,
    coalesce(sum((SELECT count(*) FROM device d WHERE d.node_id = node.id)), 0) AS gpu
  FROM node WHERE pool = $1) n
ON CONFLICT (pool, seconds, at) DO UPDATE
SET ${addTo('pool_period', measuredSums)}, position = greatest(pool_period.position, excluded.position)`

/**
 * Merges old minutes into hours, one hour at a time. Safe in concurrent processes: a row is merged by the process that
 * deletes it.
 */
export async function mergeMinutes(sql: Sql): Promise<void> {
  for (const text of [mergeSql('pool_period', periodSums), mergeSql('pool_use', useSums)])
    for (let hours = 0; hours < hoursPerPass; hours++) {
      const rows = await sql.query(text, [hourSeconds, minuteHoursKept])
      if (rows.length === 0) break
    }
}

/** Maximum hours to merge in a pass, enough for the minutes that an outage of all servers leaves. */
const hoursPerPass = 60
const hourSql = (at: string) => `date_bin('1 hour', ${at}, to_timestamp(0))`

interface Sums {
  keys: string
  columns: string
  values: string
}

const periodSums: Sums = {
  keys: 'pool',
  columns: `${measuredSums.join(', ')}, position`,
  values: `${measuredSums.map((column) => `sum(${column})`).join(', ')}, max(position)`,
}
const useSums: Sums = {
  keys: `pool, ${keys}`,
  columns: sums.join(', '),
  values: sums.map((column) => `sum(${column})`).join(', '),
}

const mergeSql = (table: 'pool_period' | 'pool_use', added: Sums) => `
WITH old AS (
  DELETE FROM ${table} WHERE seconds = ${minuteSeconds}
    AND at < (SELECT least(${hourSql("berth_now() - $2::int * interval '1 hour'")}, ${hourSql('min(at)')} + interval '1 hour')
      FROM ${table} WHERE seconds = ${minuteSeconds})
  RETURNING *
)
INSERT INTO ${table} (seconds, at, ${added.keys}, ${added.columns})
SELECT $1::int, ${hourSql('at')}, ${added.keys}, ${added.values} FROM old GROUP BY ${hourSql('at')}, ${added.keys}
RETURNING 1`

export const expireUse = ({ db }: Domain, before: Date): Promise<number> => removeInBatches(db.sql, expireSql, [before])

const expireSql = `
WITH period AS (
  DELETE FROM pool_period WHERE ctid = ANY(ARRAY(SELECT ctid FROM pool_period WHERE at < $2 ORDER BY at LIMIT $1))
  RETURNING pool, seconds, at
),
used AS (DELETE FROM pool_use u USING period p WHERE u.pool = p.pool AND u.seconds = p.seconds AND u.at = p.at)
SELECT 1 FROM period`
