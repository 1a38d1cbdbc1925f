import { conditionRules } from '../conditions/conditions.ts'
import type { Domain } from '../domain.ts'
import { toMessageId } from './body.ts'
import { insertDeliveries } from './deliveries.ts'
import { toConditionEventType } from './event-types.ts'

/** Writes deliveries from the events of conditions, whose numbers are dense and in commit order as well. */

const pageEventsMax = 100

interface ConditionEventRow {
  seq: number
  name: string
  kind: 'BEGAN' | 'OVER'
  at: Date
  since: Date
  evidence: string[]
}

export interface ConditionEndpoint {
  name: string
  admitsType(type: string): boolean
}

/** Writes at most one page. Also moves the cursor past events that the endpoint does not get. */
export function writeConditionDeliveries(
  { db }: Pick<Domain, 'db'>,
  { name, admitsType }: ConditionEndpoint,
): Promise<void> {
  return db.transaction(async (sql) => {
    const [cursor] = await sql.query<{ seq: number }>(lockSql, [name], 'webhook_conditions_lock')
    if (!cursor) return
    const events = await sql.query<ConditionEventRow>(pageSql, [cursor.seq, pageEventsMax], 'webhook_conditions_page')
    const last = events.at(-1)
    if (!last) return
    const deliveries = events
      .map((event) => ({ ...event, type: toConditionEventType(event.kind) }))
      .filter(({ type }) => admitsType(type))
      .map((event) => ({
        id: toMessageId(name, event.name, event.kind, event.at.getTime()),
        type: event.type,
        body: buildConditionBody(event.type, event),
      }))
    await insertDeliveries(sql, name, deliveries)
    await sql.query('UPDATE webhook_endpoint SET condition_seq = $2 WHERE name = $1', [name, last.seq])
  })
}

const lockSql = `
SELECT e.condition_seq AS seq FROM webhook_endpoint e, condition_check k
WHERE e.name = $1 AND e.disabled_at IS NULL AND e.condition_seq < k.seq FOR UPDATE OF e SKIP LOCKED`

const pageSql = 'SELECT seq, name, kind, at, since, evidence FROM condition_event WHERE seq > $1 ORDER BY seq LIMIT $2'

const evidenceCharactersMax = 500

function buildConditionBody(type: string, { name, at, since, evidence }: ConditionEventRow): string {
  const rule = conditionRules.get(name)
  return JSON.stringify({
    type,
    timestamp: at.toISOString(),
    data: {
      condition: name,
      severity: rule?.severity ?? null,
      meaning: rule?.meaning ?? null,
      remedy: rule?.remedy ?? null,
      since: since.toISOString(),
      evidence: evidence.map((text) => text.slice(0, evidenceCharactersMax)),
    },
  })
}
