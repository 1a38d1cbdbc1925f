import { removeInBatches } from '../../platform/remove-in-batches.ts'
import type { Sql } from '../../platform/tx.ts'
import type { Domain } from '../domain.ts'
import { addDecimals, makeSubjectKey, type Subject } from './quota-rules.ts'
import {
  type Amounts,
  countsSlots,
  findQuotaType,
  mapQuotaTypes,
  type QuotaType,
  quotaTypes,
  windowHours,
} from './quota-types.ts'

/**
 * Usage of users, teams and accounts, from alive jobs and from the usage ledger, which keeps usage after jobs are
 * deleted.
 */

export interface Usage {
  amounts: Amounts
  blocked: number
  known: boolean
}

export interface Measured {
  subject: Subject
  /** Length of the window that is read; amounts with a longer window are 0. */
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
    const key = makeSubjectKey(one.subject)
    if ((longest.get(key)?.hours ?? -1) < one.hours) longest.set(key, one)
  }
  return [...longest.values()]
}

const measuresSql = (types: readonly QuotaType[]) =>
  types.map((type) => `${findQuotaType(type).usage(sinceSql(windowHours[type]))} AS "${type}"`).join(',\n      ')
const sinceSql = (hours: number) => (hours === 0 ? '' : `FILTER (WHERE t.at > clock.now - interval '${hours} hours')`)
const [ofAlive, ofLedger] = [
  quotaTypes.filter((type) => windowHours[type] === 0),
  quotaTypes.filter((type) => windowHours[type] > 0),
]

const amountsSql = (reserved: string) =>
  quotaTypes.map((type) => (countsSlots(type) ? `"${type}" + ${reserved} AS "${type}"` : `"${type}"`)).join(', ')

/** SQL that measures the usage of subjects of this kind. `owns`: condition on a table alias. Only users have slots. */
const armSql = (kind: Subject['kind'], owns: (table: string) => string, reserved: string) => `
  SELECT s.kind, s.id, blocked, ${amountsSql(reserved)},
    EXISTS (SELECT FROM job t WHERE ${owns('t')}) OR EXISTS (SELECT FROM usage_ledger t WHERE ${owns('t')}) AS known
  FROM subject s, clock,
  LATERAL (
    SELECT count(*) FILTER (WHERE t.state = 'BLOCKED')::int AS blocked,
      ${measuresSql(ofAlive)}
    FROM job t LEFT JOIN pool p ON p.name = t.pool WHERE ${owns('t')} AND NOT t.log_closed) alive,
  LATERAL (
    SELECT ${measuresSql(ofLedger)}
    FROM usage_ledger t WHERE ${owns('t')} AND t.at > clock.now - s.hours * interval '1 hour') ledger
  WHERE s.kind = '${kind}'`

const reservedSql = `(SELECT count(*)::int FROM slot_reservation r
  WHERE r.user_id = s.id AND r.consumed_at IS NULL AND r.released_at IS NULL AND r.expires_at > clock.now)`

/** SQL condition: the account or one below it. In byte order the names below `ml` are from "ml." to before "ml/". */
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
  amounts: mapQuotaTypes(() => 0),
  blocked: 0,
  known: false,
}

export const addJob = ({ amounts, blocked }: Usage, takes: Amounts, isBlocked: boolean): Usage => ({
  amounts: mapQuotaTypes((_row, type) => addDecimals(amounts[type], takes[type])),
  blocked: blocked + (isBlocked ? 1 : 0),
  known: true,
})
