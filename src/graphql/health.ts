import type { Domain } from '../domain/domain.ts'
import { leaseTtlMs } from '../platform/leadership.ts'

/** What /readyz answers: whether this process can serve, and what an operator should look at. */
export interface Readiness {
  ready: boolean
  database: 'ok' | 'unavailable'
  migrations: 'ok' | 'pending' | 'unknown'
  warnings: string[]
}

/** Who probes has a limit of its own, and a short one. */
const answerMsMax = 2_000

export async function readiness({ db, log }: Domain): Promise<Readiness> {
  try {
    const [row] = await db.transaction(
      (sql) => sql.query<{ unfinished: number; leaderless: string[] }>(readinessSql, [leaseTtlMs]),
      { statementMsMax: answerMsMax },
    )
    const migrated = row?.unfinished === 0
    const warnings = (row?.leaderless ?? []).map((pool) => `pool ${pool} has no leader: its jobs wait`)
    return { ready: migrated, database: 'ok', migrations: migrated ? 'ok' : 'pending', warnings }
  } catch (error) {
    log.warn({ err: error }, 'not ready')
    return { ready: false, database: 'unavailable', migrations: 'unknown', warnings: [] }
  }
}

const readinessSql = `
SELECT
  (SELECT count(*) FROM _prisma_migrations WHERE finished_at IS NULL AND rolled_back_at IS NULL) AS unfinished,
  (SELECT coalesce(array_agg(p.name ORDER BY p.name), '{}') FROM pool p
     WHERE NOT EXISTS (SELECT FROM scheduler_lease l
                       WHERE l.pool = p.name AND l.renewed_at > berth_now() - $1 * interval '1 ms')) AS leaderless`
