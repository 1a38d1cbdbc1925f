import { removeInBatches } from '../../platform/remove-in-batches.ts'
import type { Sql } from '../../platform/tx.ts'
import type { Domain } from '../domain.ts'
import { executorsWhere, startsProcesses } from '../executors.ts'
import { holdingSql } from '../state.ts'
import { type Amounts, addDecimals, type QuotaType, quotaTypes, type Subject, subjectKey } from './quota-rules.ts'

/**
 * Usage of users, teams and accounts, from alive jobs and from the usage ledger, which keeps usage after jobs are
 * deleted.
 */

export interface Usage {
  amounts: Amounts
  blocked: number
  /** true: the subject has a job or an entry in the ledger. */
  known: boolean
}

/** Window of each quota type in the ledger, in hours. */
export const windowHours = {
  CONCURRENT_JOBS: 0,
  JOBS_PER_HOUR: 1,
  JOBS_PER_DAY: 24,
  COST_PER_DAY: 24,
  COST_PER_MONTH: 720,
  LOCAL_GPUS: 0,
} as const satisfies Record<QuotaType, number>

export interface Measured {
  subject: Subject
  /** Only this long a window is read; amounts of longer windows are 0. */
  hours: number
}

export async function readUsage(sql: Sql, measured: readonly Measured[]): Promise<Map<string, Usage>> {
  if (measured.length === 0) return new Map()
  const rows = await sql.query<Amounts & Omit<Usage, 'amounts'> & { kind: Subject['kind']; id: string }>(
    usageSql,
    [JSON.stringify(measured.map(({ subject: { kind, id }, hours }) => ({ kind, id, hours })))],
    'usage',
  )
  return new Map(rows.map(({ kind, id, blocked, known, ...amounts }) => [`${kind}/${id}`, { amounts, blocked, known }]))
}

export function mergeMeasured(wanted: readonly Measured[]): Measured[] {
  const longest = new Map<string, Measured>()
  for (const one of wanted) {
    const key = subjectKey(one.subject)
    if ((longest.get(key)?.hours ?? -1) < one.hours) longest.set(key, one)
  }
  return [...longest.values()]
}

const startingProcesses = `{${executorsWhere((each) => each.startsProcesses)}}`

/** For an exclusive job: the most GPUs that it may hold, and once it has started the GPUs that it holds. */
const gpusSql = `CASE WHEN t.gpu_most IS NULL THEN t.gpu WHEN t.state NOT IN ${holdingSql} THEN t.gpu_most ELSE (
  SELECT count(*) FROM run r JOIN held_device h ON h.run_id = r.id WHERE r.job_id = t.id AND r.number = t.run_number) END`

/** Adds costs as decimals. The total is limited to what a double can hold. */
const totalCostSql = (filter: string) => `least(coalesce(sum(t.cost::text::numeric) ${filter}, 0), 1e300)::float8`

/** Measures usage of a user, team or account; `owns` is the condition on the table `t`. Only users have slots. */
const armSql = (kind: Subject['kind'], owns: (table: string) => string, reserved: string) => `
  SELECT s.kind, s.id, alive.count + ${reserved} AS "CONCURRENT_JOBS", alive.blocked, alive.gpus AS "LOCAL_GPUS",
    ledger.hour AS "JOBS_PER_HOUR", ledger.day AS "JOBS_PER_DAY", ledger.day_cost AS "COST_PER_DAY",
    ledger.month_cost AS "COST_PER_MONTH",
    EXISTS (SELECT FROM job t WHERE ${owns('t')}) OR EXISTS (SELECT FROM usage_ledger t WHERE ${owns('t')}) AS known
  FROM subject s, clock,
  LATERAL (
    SELECT count(*)::int AS count, count(*) FILTER (WHERE t.state = 'BLOCKED')::int AS blocked,
      coalesce(sum(${gpusSql}) FILTER (WHERE p.executors && '${startingProcesses}'), 0)::bigint AS gpus
    FROM job t LEFT JOIN pool p ON p.name = t.pool WHERE ${owns('t')} AND NOT t.log_closed) alive,
  LATERAL (
    SELECT count(*) FILTER (WHERE t.at > clock.now - interval '1 hour')::int AS hour,
      count(*) FILTER (WHERE t.at > clock.now - interval '24 hours')::int AS day,
      ${totalCostSql("FILTER (WHERE t.at > clock.now - interval '24 hours')")} AS day_cost,
      ${totalCostSql('')} AS month_cost
    FROM usage_ledger t WHERE ${owns('t')} AND t.at > clock.now - s.hours * interval '1 hour') ledger
  WHERE s.kind = '${kind}'`

const reservedSql = `(SELECT count(*)::int FROM slot_reservation r
  WHERE r.user_id = s.id AND r.consumed_at IS NULL AND r.released_at IS NULL AND r.expires_at > clock.now)`

/** An account and those below it: "ml." ≤ name < "ml/" in byte order. */
const inAccount = (t: string) =>
  `(${t}.account = s.id OR ${t}.account ~>~ (s.id || '.') AND ${t}.account ~<~ (s.id || '/'))`

const usageSql = `
WITH clock AS MATERIALIZED (SELECT berth_now() AS now),
subject AS MATERIALIZED (SELECT * FROM jsonb_to_recordset($1::text::jsonb) AS s(kind text, id text, hours int))
${[
  armSql('user', (t) => `${t}.user_id = s.id`, reservedSql),
  armSql('team', (t) => `${t}.team_id = s.id`, '0'),
  armSql('account', inAccount, '0'),
].join('\n  UNION ALL')}`

const keptDays = 31

export const sweepUsageLedger = ({ db }: Domain): Promise<number> => removeInBatches(db.sql, sweepSql, [keptDays])

const sweepSql = `
DELETE FROM usage_ledger WHERE ctid = ANY(ARRAY(
  SELECT ctid FROM usage_ledger WHERE at < (SELECT berth_now()) - $2 * interval '1 day' ORDER BY at LIMIT $1))
RETURNING 1`

export const noUsage: Usage = {
  amounts: { CONCURRENT_JOBS: 0, JOBS_PER_HOUR: 0, JOBS_PER_DAY: 0, COST_PER_DAY: 0, COST_PER_MONTH: 0, LOCAL_GPUS: 0 },
  blocked: 0,
  known: false,
}

export interface Taking {
  cost: number | null
  /** The most GPUs that all copies of the job may hold. */
  gpu: number
}

export function computeAmounts({ cost: expected, gpu }: Taking, executors: readonly string[]): Amounts {
  const cost = expected ?? 0
  return {
    CONCURRENT_JOBS: 1,
    JOBS_PER_HOUR: 1,
    JOBS_PER_DAY: 1,
    COST_PER_DAY: cost,
    COST_PER_MONTH: cost,
    LOCAL_GPUS: startsProcesses(executors) ? gpu : 0,
  }
}

export const addJob = ({ amounts, blocked }: Usage, takes: Amounts, isBlocked: boolean): Usage => ({
  amounts: Object.fromEntries(quotaTypes.map((type) => [type, addDecimals(amounts[type], takes[type])])) as Amounts,
  blocked: blocked + (isBlocked ? 1 : 0),
  known: true,
})
