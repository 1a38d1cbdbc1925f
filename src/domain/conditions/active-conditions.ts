import type { Sql } from '../../platform/tx.ts'
import type { ActiveCondition, ConditionSeverity } from './condition.ts'
import { conditionRules } from './conditions.ts'

/** The result of the last evaluation by any server of the installation. */
export interface Conditions {
  /** Conditions that hold: PAGE first, then by time. */
  active: readonly ActiveCondition[]
  /** Time of the last evaluation; null: none yet. */
  evaluatedAt: Date | null
}

interface Row {
  evaluatedAt: Date
  readOnly: boolean
  name: string | null
  since: Date
  evidence: string[]
}

const ranks: Readonly<Record<ConditionSeverity, number>> = { PAGE: 0, TICKET: 1, INFO: 2 }

export async function readConditions(sql: Sql): Promise<Conditions> {
  const rows = await sql.query<Row>(readSql, [], 'conditions_active')
  const [first] = rows
  if (!first) throw new Error('The row of condition_check is missing')
  const stored = rows.flatMap(({ name, since, evidence }) => (name === null ? [] : [{ name, since, evidence }]))
  const active = [...stored, ...findReadOnly(first, stored)].flatMap(({ name, since, evidence }) => {
    const rule = conditionRules.get(name)
    return rule ? [{ ...rule, name, since, evidence }] : []
  })
  active.sort((a, b) => ranks[a.severity] - ranks[b.severity] || a.since.getTime() - b.since.getTime())
  return { active, evaluatedAt: first.evaluatedAt.getTime() === 0 ? null : first.evaluatedAt }
}

/** A read-only database cannot store this condition, so readers detect it. It began after the last stored evaluation. */
const findReadOnly = ({ readOnly, evaluatedAt }: Row, stored: readonly { name: string }[]) =>
  readOnly && !stored.some(({ name }) => name === 'DATABASE_READ_ONLY')
    ? [{ name: 'DATABASE_READ_ONLY', since: evaluatedAt, evidence: ['transaction_read_only is on'] }]
    : []

const readSql = `
SELECT k.at AS "evaluatedAt", current_setting('transaction_read_only') = 'on' AS "readOnly", c.name, c.since, c.evidence
FROM condition_check k LEFT JOIN condition c ON c.since IS NOT NULL`

/** Values of the metric `berth_condition`, by name of the condition: 1 if it holds, else 0. */
export async function readConditionValues(sql: Sql): Promise<ReadonlyMap<string, 0 | 1>> {
  const { active } = await readConditions(sql)
  const names = new Set(active.map(({ name }) => name))
  return new Map([...conditionRules.keys()].map((name) => [name, names.has(name) ? 1 : 0]))
}
