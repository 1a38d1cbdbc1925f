import type { Sql } from '../../platform/tx.ts'
import type { Domain } from '../domain.ts'

/** What a process that runs the jobs of a pool says of itself, when it starts: of its executors, and of its machine. */
export interface PoolReport {
  executors: Readonly<Record<string, ExecutorReport>>
  /** A job of a user without `unixUser` would run as root, and the pool does not allow that. */
  unixUserRequired: boolean
  /** Accounts that own files of the server. */
  reservedUnixUsers: readonly string[]
}

export interface ExecutorReport {
  version: string | null
  available: boolean
  message: string | null
}

export async function reportPool({ db }: Pick<Domain, 'db'>, pool: string, report: PoolReport): Promise<void> {
  await db.sql.query(
    'UPDATE pool SET executor_reports = $2, unix_user_required = $3, reserved_unix_users = $4 WHERE name = $1',
    [pool, JSON.stringify(report.executors), report.unixUserRequired, report.reservedUnixUsers],
  )
}

export interface PoolExecutors {
  pool: string
  executors: string[]
  /** By name; an executor of which no process has spoken yet is missing. */
  reports: Partial<PoolReport['executors']>
}

const poolsMax = 100

export const readExecutors = (sql: Sql): Promise<PoolExecutors[]> =>
  sql.query<PoolExecutors>(
    'SELECT name AS pool, executors, executor_reports AS reports FROM pool ORDER BY name LIMIT $1',
    [poolsMax],
    'pool_executors',
  )
