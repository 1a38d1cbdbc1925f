import { createLoop, type Loop } from '../../platform/loop.ts'
import type { GaugeMeter } from '../../platform/server-gauges.ts'
import type { Sql } from '../../platform/tx.ts'
import type { Domain } from '../domain.ts'
import { type ConditionRule, evidenceMax } from './condition.ts'
import { conditionRules } from './conditions.ts'
import { type ReportedGauges, readGauges, type ServerReport, storeServerReport } from './server-report.ts'
import { storeEvidence } from './stored-conditions.ts'

/**
 * Every server runs this loop. It reports the gauges of its process and, if no other server has done so within the last
 * 10 s, evaluates the table for the whole installation. If no condition changes, an evaluation needs three statements.
 */

const everyMs = 10_000
/** Less than `everyMs`, so that a loop that wakes up a little early does not skip an evaluation. */
const claimMs = 9_000

export interface ConditionWatch {
  loop: Loop
  /** Stores the report and, unless another server has just done so, evaluates. Returns whether this server evaluated. */
  evaluateIfDue(): Promise<boolean>
}

interface ConditionWatchOptions {
  server: Omit<ServerReport, 'gauges'>
  meter: Pick<GaugeMeter, 'read' | 'measureWrite'>
}

export function createConditionWatch(domain: Domain, { server, meter }: ConditionWatchOptions): ConditionWatch {
  const { db, clock, log } = domain
  const evaluatedMs = new Map<string, number>()

  const isDue = ([name, { everySeconds = 0 }]: [string, ConditionRule]) =>
    clock.monotonicMs() - (evaluatedMs.get(name) ?? Number.NEGATIVE_INFINITY) >= everySeconds * 1_000

  async function report(): Promise<string | null> {
    const gauges = await meter.read()
    return meter.measureWrite(() => storeServerReport(db.sql, { ...server, gauges }, claimMs))
  }

  async function evaluateIfDue() {
    const claimedAt = await report()
    if (claimedAt === null) return false
    const due = [...conditionRules].filter(isDue)
    const found = await findEvidence(domain, due)
    for (const name of found.keys()) evaluatedMs.set(name, clock.monotonicMs())
    for (const { name, kind, evidence } of await storeEvidence(db, claimedAt, found))
      log.warn({ condition: name, evidence }, kind === 'BEGAN' ? 'a condition began' : 'a condition is over')
    return true
  }

  return {
    loop: createLoop({ name: 'conditions', pollMs: everyMs, runOnce: evaluateIfDue, clock, log }),
    evaluateIfDue,
  }
}

type Named = readonly [name: string, rule: ConditionRule]

/** Returns evidence by condition; an empty list: the condition does not hold. Omits conditions whose evaluation failed. */
export async function findEvidence(
  { db, log }: Pick<Domain, 'db' | 'log'>,
  rules: readonly Named[],
): Promise<ReadonlyMap<string, string[]>> {
  const found = new Map(rules.map(([name]) => [name, [] as string[]]))
  const add = (name: string, evidence: readonly string[]) => found.get(name)?.push(...evidence.slice(0, evidenceMax))
  const failed = (name: string, error: unknown) => {
    found.delete(name)
    log.error({ err: error, what: name }, 'could not evaluate a condition')
  }
  const queries = rules.filter(([, { sql }]) => sql !== undefined)
  for (const { name, evidence } of await runQueries(db.sql, queries, failed)) add(name, [evidence])
  const servers = await readGauges(db.sql)
  for (const [name, { gauge, check }] of rules) {
    if (gauge) add(name, findInGauges(servers, gauge))
    if (check)
      await check(db.sql).then(
        (evidence) => add(name, evidence),
        (error: unknown) => failed(name, error),
      )
  }
  return found
}

interface EvidenceRow {
  name: string
  evidence: string
}

/** Runs all queries in one statement. If it fails, runs each alone, so that a failing query does not hide the others. */
async function runQueries(
  sql: Sql,
  rules: readonly Named[],
  failed: (name: string, error: unknown) => void,
): Promise<EvidenceRow[]> {
  const parts = rules.map(
    ([name, { sql: query }]) => `(SELECT '${name}' AS name, evidence::text FROM (${query}) found LIMIT ${evidenceMax})`,
  )
  if (parts.length === 0) return []
  try {
    return await sql.query<EvidenceRow>(parts.join('\nUNION ALL\n'))
  } catch (error) {
    if (rules.length === 1) {
      for (const [name] of rules) failed(name, error)
      return []
    }
  }
  const rows: EvidenceRow[] = []
  for (const rule of rules) rows.push(...(await runQueries(sql, [rule], failed)))
  return rows
}

const findInGauges = (servers: readonly ReportedGauges[], gauge: NonNullable<ConditionRule['gauge']>): string[] =>
  servers.flatMap(({ host, pid, gauges }) => {
    const evidence = gauge(gauges)
    return evidence === null ? [] : [`server ${host} (pid ${pid}): ${evidence}`]
  })
