import type { JobState } from '../../domain/state.ts'
import type { Sql } from '../../platform/tx.ts'
import type { Bind } from './keyset.ts'

export type JobCountBy =
  | 'STATE'
  | 'USER'
  | 'TEAM'
  | 'ACCOUNT'
  | 'PROJECT'
  | 'QUEUE'
  | 'POOL'
  | 'EXECUTOR'
  | 'LABEL'
  | 'LABEL_KEY'
  | 'REASON'

export interface JobCountRow {
  by: JobCountBy
  /** Value of the key; null: the row counts jobs without a value. */
  key: string | null
  count: number
  byState: { state: JobState; count: number }[]
}

export interface JobCounts {
  rows: JobCountRow[]
  isExact: boolean
}

/** Maximum number of counted jobs, the newest ones. */
export const countedJobsMax = 100_000

const keys: Readonly<Record<Exclude<JobCountBy, 'LABEL' | 'LABEL_KEY'>, string>> = {
  STATE: 'j.state::text',
  USER: 'j.user_id',
  TEAM: 'j.team_id',
  ACCOUNT: 'j.account',
  PROJECT: 'j.project',
  QUEUE: 'j.queue',
  POOL: 'j.pool',
  EXECUTOR: 'upper(j.executor)',
  REASON: 'j.state_reason',
}

export interface JobCountQuery {
  by: JobCountBy
  labelKey: string | null
  first: number
  where: (bind: Bind) => string
}

/** Counts jobs by a key in one statement, which reads at most `countedJobsMax` jobs and one. */
export async function readJobCounts(sql: Sql, { by, labelKey, first, where }: JobCountQuery): Promise<JobCounts> {
  const values: unknown[] = []
  const bind: Bind = (value) => `$${values.push(value)}`
  const key = by === 'LABEL' ? `j.labels ->> ${bind(labelKey)}::text` : by === 'LABEL_KEY' ? null : keys[by]
  const listed = key === null ? 'ARRAY(SELECT jsonb_object_keys(j.labels))' : `ARRAY[${key}]`
  const rows = await sql.query<Omit<JobCountRow, 'by'> & { isExact: boolean }>(
    `WITH newest AS MATERIALIZED (
       SELECT ${listed} AS keys, j.state FROM job j WHERE ${where(bind)}
       ORDER BY j.created_at DESC, j.id DESC LIMIT ${countedJobsMax + 1}
     ),
     cell AS (
       SELECT unnest(keys) AS key, state, count(*)::int AS count
       FROM (SELECT * FROM newest LIMIT ${countedJobsMax}) counted GROUP BY 1, 2
     )
     SELECT key, sum(count)::int AS count,
       jsonb_agg(jsonb_build_object('state', state, 'count', count) ORDER BY state) AS "byState",
       (SELECT count(*) FROM newest) <= ${countedJobsMax} AS "isExact"
     FROM cell GROUP BY key ORDER BY count DESC, key LIMIT ${bind(first)}::int`,
    values,
  )
  return {
    rows: rows.map((row) => ({ by, key: row.key, count: row.count, byState: row.byState })),
    isExact: rows[0]?.isExact ?? true,
  }
}
