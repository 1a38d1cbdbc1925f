import type { Sql } from '../../platform/tx.ts'
import { perDomain } from '../domain.ts'
import { isNear, makeSubjectKey, type Subject } from './quota-rules.ts'
import { type Amounts, countsJobs, countsSlots, mapQuotaTypes, type QuotaType, windowHours } from './quota-types.ts'
import { type Measured, mergeMeasured, readUsage, type Usage } from './quota-usage.ts'

/**
 * Avoids counting usage for each group of submissions, which takes longer than inserting the group. The last count plus
 * the number of job sequences drawn since is an upper bound of the present number of jobs. Far below every limit,
 * the bound leads to the same decisions; otherwise everything is counted again. Costs and GPUs are always counted. The
 * cached counts were taken under the submission lock, when all jobs with drawn numbers were committed.
 */

export interface Comparison {
  subject: Subject
  /** BLOCKED counts the jobs that wait for an approval. */
  type: QuotaType | 'BLOCKED'
  limit: number
}

interface Standing {
  sequence: number
  people: ReadonlyMap<string, Person>
  /** Number of approval requests by user; null: not read. */
  blocked: ReadonlyMap<string, number> | null
}

interface Person {
  id: string
  reserved: number
  known: boolean
}

export type UsageCache = Map<string, { amounts: Amounts; hours: number; sequence: number }>

const subjectsMax = 10_000

export const getUsageCache = perDomain((): UsageCache => new Map())

/** Reads the slot reservations, which change without a new job. */
export async function readStanding(sql: Sql, userIds: readonly string[]): Promise<Omit<Standing, 'blocked'>> {
  const rows = await sql.query<Person & { sequence: number }>(
    standingSql,
    [JSON.stringify([...new Set(userIds)])],
    'standing',
  )
  return { sequence: rows[0]?.sequence ?? Number.POSITIVE_INFINITY, people: new Map(rows.map((row) => [row.id, row])) }
}

const standingSql = `
SELECT u.id, coalesce(r.count, 0)::int AS reserved,
  EXISTS (SELECT FROM usage_ledger l WHERE l.user_id = u.id) OR EXISTS (SELECT FROM job j WHERE j.user_id = u.id) AS known,
  s.last_value - CASE WHEN s.is_called THEN 0 ELSE 1 END AS sequence
FROM job_sequence_seq s, jsonb_array_elements_text($1::text::jsonb) AS u(id)
LEFT JOIN (SELECT user_id, count(*) FROM slot_reservation
  WHERE consumed_at IS NULL AND released_at IS NULL AND expires_at > berth_now() GROUP BY user_id) r ON r.user_id = u.id`

/** Reads the number of pending approval requests by id of the user. */
export async function readBlockedAmounts(sql: Sql): Promise<ReadonlyMap<string, number>> {
  const rows = await sql.query<{ userId: string; blocked: number }>(
    `SELECT requested_by AS "userId", count(*)::int AS blocked FROM approval WHERE status = 'PENDING' GROUP BY requested_by`,
    [],
    'blocked',
  )
  return new Map(rows.map(({ userId, blocked }) => [userId, blocked]))
}

interface Asked {
  compared: readonly Comparison[]
  standing: Standing
  coming: number
  /** null: counts everything and caches nothing. */
  memory: UsageCache | null
}

/** Reads the usage of all compared subjects: exact, or an upper bound that leads to the same decisions. */
export async function readBoundedUsage(sql: Sql, asked: Asked): Promise<Map<string, Usage>> {
  const usage = new Map<string, Usage>()
  const count: Measured[] = []
  for (const [key, own] of Map.groupBy(asked.compared, ({ subject }) => makeSubjectKey(subject))) {
    const bound = findBound(key, own, asked)
    if (bound) usage.set(key, bound)
    else count.push(...own.map(({ subject, type }) => ({ subject, hours: windowOf(type) })))
  }
  const measured = mergeMeasured(count)
  for (const [key, one] of await readUsage(sql, measured)) usage.set(key, one)
  remember(measured, usage, asked)
  return usage
}

const windowOf = (type: Comparison['type']) => (type === 'BLOCKED' ? 0 : windowHours[type])

function findBound(key: string, compared: readonly Comparison[], asked: Asked): Usage | null {
  const { memory, standing, coming } = asked
  const counted = memory?.get(key)
  if (!counted || standing.sequence < counted.sequence) return null
  const person = compared[0]?.subject.kind === 'user' ? standing.people.get(compared[0].subject.id) : undefined
  const since = standing.sequence - counted.sequence
  const reserved = person?.reserved ?? 0
  const atMost = mapQuotaTypes(
    (_row, type) => counted.amounts[type] + (countsJobs(type) ? since : 0) + (countsSlots(type) ? reserved : 0),
  )
  const isFar = ({ type, limit }: Comparison) => {
    if (type === 'BLOCKED') return standing.blocked !== null
    return countsJobs(type) && windowOf(type) <= counted.hours && !isNear(atMost[type] + coming, limit)
  }
  if (!compared.every(isFar)) return null
  const blocked = (person && standing.blocked?.get(person.id)) ?? 0
  return { amounts: atMost, blocked, known: person?.known ?? true }
}

function remember(measured: readonly Measured[], usage: ReadonlyMap<string, Usage>, asked: Asked): void {
  const { memory, standing } = asked
  if (!memory) return
  if (memory.size + measured.length > subjectsMax) memory.clear()
  for (const { subject, hours } of measured) {
    const one = usage.get(makeSubjectKey(subject))
    if (one) memory.set(makeSubjectKey(subject), { amounts: one.amounts, hours, sequence: standing.sequence })
  }
}
