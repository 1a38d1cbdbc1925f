import type { ServerGauges } from '../../platform/server-gauges.ts'
import type { Sql } from '../../platform/tx.ts'

/** PAGE: wake a person. TICKET: a person should act within days. INFO: good to know. */
export type ConditionSeverity = 'PAGE' | 'TICKET' | 'INFO'

/** One row of the table in conditions.ts. The texts appear in `berth doctor`, the console and docs/alerts.md. */
export interface ConditionRule {
  severity: ConditionSeverity
  /** The symptom and its effect, as one sentence without the name of an object. */
  meaning: string
  cause: string
  remedy: string
  /** Commands for these steps, in order. A word in capitals stands for a name. */
  commands: readonly string[]
  /** How long the evidence must last before the condition begins; it ends at the first evaluation without evidence. */
  forSeconds: number
  /** Pause between evaluations; default: 10. */
  everySeconds?: number
  /** A cheap query with one text column, `evidence`: the condition holds while the query has rows. */
  sql?: string
  /** Returns evidence from the gauges that a server reported in the last 30 s; null: none. */
  gauge?: (gauges: ServerGauges) => string | null
  /** Returns evidence that needs more than one query. */
  check?: (sql: Sql) => Promise<string[]>
}

export interface ActiveCondition extends ConditionRule {
  name: string
  since: Date
  evidence: readonly string[]
}

export const evidenceMax = 10

/** SQL that formats a time of the evidence in UTC. */
export const toMinute = (column: string) => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI')`
