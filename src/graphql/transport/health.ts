import { conditionRules } from '../../domain/conditions/conditions.ts'
import type { Domain } from '../../domain/domain.ts'
import { leaseTtlMs } from '../../domain/leadership.ts'
import type { Db } from '../../platform/db.ts'
import type { DiskWatch } from '../../platform/disk.ts'
import { explainOverload, readSqlState } from '../../platform/tx.ts'

export interface Readiness {
  ready: boolean
  /** read-only: a standby, or being replaced. unknown: this server is too overloaded to tell. */
  database: 'ok' | 'full' | 'read-only' | 'unavailable' | 'unknown'
  migrations: 'ok' | 'pending' | 'unknown'
  warnings: string[]
}

/** The statement timeout, shorter than that of other statements. */
const limit = { statementMsMax: 2_000 }

/** Requests within this time share a check for disk space: /readyz needs no login, and the check writes. */
const spaceCheckMs = 1_000

/** `findStanding` returns why the server is not ready although the database is; null: the server is ready. */
export function createReadiness(
  { db, clock, log }: Domain,
  { disk, findStanding = () => null }: { disk: Pick<DiskWatch, 'findProblem'>; findStanding?: () => string | null },
): () => Promise<Readiness> {
  let last: { atMs: number; found: Promise<boolean> } | null = null
  const checkSpace = () => {
    const nowMs = clock.monotonicMs()
    if (last === null || nowMs - last.atMs > spaceCheckMs) last = { atMs: nowMs, found: hasSpace(db) }
    return last.found
  }
  return async () => {
    const state = await probe({ db, log, checkSpace }, await disk.findProblem())
    const standing = findStanding()
    return standing === null ? state : { ...state, ready: false, warnings: [...state.warnings, standing] }
  }
}

const problems = {
  ok: [],
  full: ['the disk of the database is full'],
  'read-only': ['the database is read-only'],
} as const

type Probe = Pick<Domain, 'db' | 'log'> & { checkSpace: () => Promise<boolean> }

async function probe({ db, log, checkSpace }: Probe, problem: string | null): Promise<Readiness> {
  const full = problem === null ? [] : [problem]
  try {
    const [row] = await db.transaction((sql) => sql.query<ProbeRow>(readinessSql, [leaseTtlMs]), limit)
    const migrated = row?.unfinished === 0
    const database = row?.readOnly ? 'read-only' : (await checkSpace()) ? 'ok' : 'full'
    const leaderless = (row?.leaderless ?? []).map((pool) => `pool ${pool} has no scheduler: its jobs wait`)
    const conditions = (row?.conditions ?? []).flatMap(describeCondition)
    return {
      ready: migrated && database === 'ok',
      database,
      migrations: migrated ? 'ok' : 'pending',
      warnings: [...leaderless, ...problems[database], ...full, ...conditions],
    }
  } catch (error) {
    const overloaded = explainOverload(error)
    log.warn({ err: error }, overloaded ?? 'not ready')
    if (overloaded) return { ready: false, database: 'unknown', migrations: 'unknown', warnings: [overloaded, ...full] }
    if (!isDiskFull(error)) return { ready: false, database: 'unavailable', migrations: 'unknown', warnings: full }
    return { ready: false, database: 'full', migrations: 'unknown', warnings: [...problems.full, ...full] }
  }
}

/** /readyz needs no login, so it shows no evidence. The names of leaderless pools are warnings of their own. */
function describeCondition(name: string): string[] {
  const rule = conditionRules.get(name)
  return rule === undefined || rule.severity === 'INFO' || name === 'NO_LEADER' ? [] : [`${name}: ${rule.meaning}`]
}

interface ProbeRow {
  conditions: string[]
  unfinished: number
  leaderless: string[]
  readOnly: boolean
}

const isDiskFull = (error: unknown) => readSqlState((error as Error).cause) === '53100'

/**
 * Returns whether the database can write half a megabyte: more rows than fit into `work_mem` make PostgreSQL write a
 * temporary file.
 */
async function hasSpace(db: Db): Promise<boolean> {
  try {
    await db.transaction((sql) => sql.query('SELECT count(*) FROM generate_series(1, 20000)'), {
      ...limit,
      settings: { work_mem: '64kB' },
    })
    return true
  } catch (error) {
    if (isDiskFull(error)) return false
    throw error
  }
}

const readinessSql = `
SELECT current_setting('transaction_read_only') = 'on' AS "readOnly",
  (SELECT coalesce(array_agg(name ORDER BY name), '{}') FROM condition WHERE since IS NOT NULL) AS conditions,
  (SELECT count(*) FROM _prisma_migrations WHERE finished_at IS NULL AND rolled_back_at IS NULL) AS unfinished,
  (SELECT coalesce(array_agg(p.name ORDER BY p.name), '{}') FROM pool p
     WHERE NOT EXISTS (SELECT FROM scheduler_lease l
                       WHERE l.pool = p.name AND l.renewed_at > berth_now() - $1 * interval '1 ms')) AS leaderless`
