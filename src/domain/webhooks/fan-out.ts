import { relaxed } from '../../platform/tx.ts'
import type { Domain } from '../domain.ts'
import { buildJobBody, type JobEventRow, toMessageId } from './body.ts'
import { insertDeliveries, type NewDelivery } from './deliveries.ts'
import { toWebhookEventType } from './event-types.ts'

/**
 * Writes deliveries from the feed. Positions of the feed are dense and in commit order, so an endpoint needs no more
 * than a cursor. The deliveries of a page and the cursor are written in one transaction, under the lock of the
 * endpoint's row. Events stay in the feed while an endpoint has `pendingMax` deliveries that are not sent.
 */

const pageEventsMax = 500
/** Unsent deliveries of an endpoint, after which no further page is read. */
const pendingMax = 1_000

export interface FanOut {
  name: string
  admits(event: JobEventRow): boolean
  publicUrl: string | null
}

/** Writes the deliveries of at most one page. true: the feed may have more events. */
export function writeDeliveries({ db, log }: Pick<Domain, 'db' | 'log'>, fanOut: FanOut): Promise<boolean> {
  const { name } = fanOut
  return db.endingTransaction(async (sql) => {
    const [cursor] = await sql.query<Cursor>(lockSql, [name, pendingMax], 'webhook_lock')
    if (!cursor || cursor.position >= cursor.head) return { result: false, writes: Promise.resolve() }
    if (cursor.forgotten > cursor.position)
      log.error({ webhook: name, ...cursor }, 'events were removed by retention before this webhook got them')
    const events = await sql.query<JobEventRow>(pageSql, [cursor.position, pageEventsMax], 'webhook_page')
    const isFull = events.length === pageEventsMax
    const last = events.at(-1)?.position ?? cursor.position
    const position = isFull ? last : Math.max(last, cursor.head)
    const writes = Promise.all([
      insertDeliveries(sql, name, listDeliveries(fanOut, events)),
      sql.query(moveSql, [name, position], 'webhook_move'),
    ])
    return { result: isFull, writes }
  }, relaxed)
}

interface Cursor {
  position: number
  head: number
  forgotten: number
}

/** Locks the endpoint, and reads the head before the page, so that the page has every event up to the head. */
const lockSql = `
SELECT e.position, h.position AS head, h.forgotten FROM webhook_endpoint e, feed_head h
WHERE e.name = $1 AND e.disabled_at IS NULL
  AND (SELECT count(*) FROM (SELECT FROM webhook_delivery WHERE endpoint = $1 AND state = 'PENDING' LIMIT $2) p) < $2
FOR UPDATE OF e SKIP LOCKED`

const moveSql = 'UPDATE webhook_endpoint SET position = $2 WHERE name = $1'

/** An event that does not change the state has the state of the event before it. */
const pageSql = `
SELECT e.job_id AS "jobId", e.seq, e.position, e.at, e.type, e.from_state AS "from", e.to_state AS "to",
  coalesce(e.to_state, (SELECT p.to_state FROM event p WHERE p.job_id = e.job_id AND p.seq < e.seq AND p.to_state IS NOT NULL
    ORDER BY p.seq DESC LIMIT 1), j.state) AS state,
  e.reason, e.exit_code AS "exitCode", e.run, j.name, j.labels, u.name AS "user", t.name AS team, j.account, j.project, j.pool, j.queue
FROM (SELECT * FROM event WHERE position > $1 ORDER BY position LIMIT $2) e
  JOIN job j ON j.id = e.job_id JOIN "user" u ON u.id = j.user_id LEFT JOIN team t ON t.id = j.team_id
ORDER BY e.position`

const listDeliveries = ({ name, admits, publicUrl }: FanOut, events: readonly JobEventRow[]): NewDelivery[] =>
  events.filter(admits).map((event) => ({
    id: toMessageId(name, event.jobId, event.seq, event.at.getTime()),
    type: toWebhookEventType(event.type, event.to),
    job: event.jobId,
    body: buildJobBody(event, publicUrl),
  }))
