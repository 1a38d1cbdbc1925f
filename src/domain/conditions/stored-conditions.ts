import type { Db } from '../../platform/db.ts'
import type { Sql } from '../../platform/tx.ts'
import { conditionRules } from './conditions.ts'

export interface StoredCondition {
  name: string
  seenMs: number
  /** When the condition began; null: the evidence has not lasted long enough yet. */
  sinceMs: number | null
  evidence: string[]
}

export interface ConditionEvent {
  name: string
  kind: 'BEGAN' | 'OVER'
  sinceMs: number
  evidence: string[]
}

export interface ConditionChanges {
  stored: StoredCondition[]
  gone: string[]
  events: ConditionEvent[]
}

/** Compares stored conditions with an evaluation. Conditions that were not evaluated stay unchanged. */
export function compareConditions(
  stored: readonly StoredCondition[],
  found: ReadonlyMap<string, string[]>,
  nowMs: number,
): ConditionChanges {
  const before = new Map(stored.map((row) => [row.name, row]))
  const pairs = [...found].map(([name, evidence]) => ({ name, evidence, last: before.get(name) }))
  const ended = pairs.flatMap(({ evidence, last }) => (evidence.length === 0 && last ? [last] : []))
  const going = pairs.flatMap(({ name, evidence, last }) =>
    evidence.length > 0 ? [{ last, next: continueCondition(last, { name, evidence }, nowMs) }] : [],
  )
  const over = ended.map((last) => createEvent('OVER', last))
  const began = going.map(({ last, next }) => (last?.sinceMs == null ? createEvent('BEGAN', next) : null))
  return {
    stored: going.filter(({ last, next }) => !last || !isSame(last, next)).map(({ next }) => next),
    gone: ended.map(({ name }) => name),
    events: [...over, ...began].filter((event) => event !== null),
  }
}

function continueCondition(
  last: StoredCondition | undefined,
  { name, evidence }: Pick<StoredCondition, 'name' | 'evidence'>,
  nowMs: number,
): StoredCondition {
  // The clock of the database may have been set back.
  const seenMs = Math.min(last?.seenMs ?? nowMs, nowMs)
  const lastsMs = (conditionRules.get(name)?.forSeconds ?? 0) * 1_000
  return { name, evidence, seenMs, sinceMs: last?.sinceMs ?? (nowMs - seenMs >= lastsMs ? nowMs : null) }
}

/** null: the condition had not begun. */
const createEvent = (
  kind: ConditionEvent['kind'],
  { name, sinceMs, evidence }: StoredCondition,
): ConditionEvent | null => (sinceMs === null ? null : { name, kind, sinceMs, evidence })

const isSame = (one: StoredCondition, other: StoredCondition) =>
  one.sinceMs === other.sinceMs &&
  one.evidence.length === other.evidence.length &&
  one.evidence.every((text, index) => text === other.evidence[index])

/**
 * Stores an evaluation and returns the conditions that began or ended. Drops an evaluation whose claim is not the
 * newest: a server that was frozen meanwhile must not report old evidence.
 */
export async function storeEvidence(
  db: Db,
  claimedAt: string,
  found: ReadonlyMap<string, string[]>,
): Promise<ConditionEvent[]> {
  if (![...found.values()].some((evidence) => evidence.length > 0) && !(await hasStored(db.sql))) return []
  return db.transaction(async (sql) => {
    const [check] = await sql.query<{ nowMs: number }>(lockSql, [claimedAt])
    if (!check) return []
    const changes = compareConditions(await readStoredConditions(sql), found, check.nowMs)
    await write(sql, changes)
    return changes.events
  })
}

const lockSql = `SELECT (extract(epoch FROM berth_now()) * 1000)::float8 AS "nowMs"
FROM condition_check WHERE at = $1::timestamptz FOR UPDATE`

const hasStored = async (sql: Sql): Promise<boolean> =>
  (await sql.query('SELECT FROM condition LIMIT 1', [], 'condition_any')).length > 0

export const readStoredConditions = (sql: Sql): Promise<StoredCondition[]> =>
  sql.query<StoredCondition>(
    `SELECT name, (extract(epoch FROM seen_at) * 1000)::float8 AS "seenMs",
       (extract(epoch FROM since) * 1000)::float8 AS "sinceMs", evidence FROM condition ORDER BY name`,
    [],
    'conditions',
  )

async function write(sql: Sql, { stored, gone, events }: ConditionChanges): Promise<void> {
  if (gone.length > 0) await sql.query('DELETE FROM condition WHERE name = ANY($1::text[])', [gone])
  if (stored.length > 0) await sql.query(upsertSql, [JSON.stringify(stored)])
  if (events.length > 0) await sql.query(eventSql, [JSON.stringify(events), events.length])
}

const toTime = (column: string) => `to_timestamp(r."${column}" / 1000)`
const toTexts = 'ARRAY(SELECT jsonb_array_elements_text(r.evidence))'

const upsertSql = `
INSERT INTO condition (name, seen_at, since, evidence)
SELECT r.name, ${toTime('seenMs')}, ${toTime('sinceMs')}, ${toTexts}
FROM jsonb_to_recordset($1::text::jsonb) AS r(name text, "seenMs" float8, "sinceMs" float8, evidence jsonb)
ON CONFLICT (name) DO UPDATE SET since = excluded.since, evidence = excluded.evidence`

const eventSql = `
WITH head AS (UPDATE condition_check SET seq = seq + $2::int RETURNING seq - $2::int AS before)
INSERT INTO condition_event (seq, name, kind, since, evidence)
SELECT head.before + row_number() OVER (ORDER BY r.name), r.name, r.kind, ${toTime('sinceMs')}, ${toTexts}
FROM head, jsonb_to_recordset($1::text::jsonb) AS r(name text, kind text, "sinceMs" float8, evidence jsonb)`

export const forgetConditionEvents = (sql: Sql): Promise<unknown> =>
  sql.query(`DELETE FROM condition_event WHERE at < (SELECT berth_now()) - interval '30 days'`)
