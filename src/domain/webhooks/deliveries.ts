import { removeInBatches } from '../../platform/remove-in-batches.ts'
import type { Sql } from '../../platform/tx.ts'
import type { Domain } from '../domain.ts'

/** Due deliveries: one process claims them for the time of a lease, then records them as delivered, failed or dead. */

export const triesMax = 10
const leaseSeconds = 60
const deliveredHoursKept = 1
const deadDaysKept = 30

type Rooms = Pick<Domain, 'db'>

export interface NewDelivery {
  id: string
  type: string
  /** Absent: the event has no job. */
  job?: string
  body: string
}

/** Inserts deliveries of an endpoint. Ignores existing ones: after a restore, events are read again. */
export const insertDeliveries = (sql: Sql, endpoint: string, deliveries: readonly NewDelivery[]): Promise<unknown> =>
  deliveries.length === 0
    ? Promise.resolve()
    : sql.query(insertSql, [endpoint, JSON.stringify(deliveries)], 'webhook_insert')

const insertSql = `
INSERT INTO webhook_delivery (id, endpoint, type, job_id, body)
SELECT r.id, $1, r.type, r.job, r.body FROM jsonb_to_recordset($2::text::jsonb) AS r(id text, type text, job text, body text)
ON CONFLICT (id) DO NOTHING`

export interface ClaimedDelivery {
  id: string
  body: string
  /** Number of this try, from 1. */
  tries: number
  lease: number
}

export interface WebhookWork {
  name: string
  /** true: a condition began or ended. */
  hasConditions: boolean
}

/** Finds the endpoints among `names` that have unread events or due deliveries. */
export const findWork = ({ db }: Rooms, names: readonly string[]): Promise<WebhookWork[]> =>
  db.sql.query<WebhookWork>(workSql, [names], 'webhook_work')

const workSql = `
SELECT e.name, e.condition_seq < k.seq AS "hasConditions" FROM webhook_endpoint e, feed_head h, condition_check k
WHERE e.name = ANY($1::text[]) AND e.disabled_at IS NULL AND (e.position < h.position OR e.condition_seq < k.seq OR EXISTS (
  SELECT FROM webhook_delivery d WHERE d.endpoint = e.name AND d.state = 'PENDING' AND d.due_at <= (SELECT berth_now())))`

/** If the process dies, another one claims the deliveries after the lease. */
export const claimDeliveries = ({ db }: Rooms, name: string, limit: number): Promise<ClaimedDelivery[]> =>
  db.sql.query<ClaimedDelivery>(claimSql, [name, limit, leaseSeconds], 'webhook_claim')

const claimSql = `
UPDATE webhook_delivery d SET tries = d.tries + 1, lease = d.lease + 1, due_at = berth_now() + $3 * interval '1 second'
FROM (
  SELECT id FROM webhook_delivery WHERE endpoint = $1 AND state = 'PENDING' AND due_at <= (SELECT berth_now())
    AND EXISTS (SELECT FROM webhook_endpoint WHERE name = $1 AND disabled_at IS NULL)
  ORDER BY due_at LIMIT $2 FOR UPDATE SKIP LOCKED
) due
WHERE d.id = due.id RETURNING d.id, d.body, d.tries, d.lease`

/** Records a success even if the lease is over. */
export const recordDelivered = ({ db }: Rooms, id: string, status: number): Promise<unknown> =>
  db.sql.query(
    `UPDATE webhook_delivery SET state = 'DELIVERED', status = $2, error = NULL, finished_at = berth_now()
     WHERE id = $1 AND state <> 'DELIVERED'`,
    [id, status],
    'webhook_delivered',
  )

/** Makes a delivery due again whose try was aborted because the server stops. */
export const releaseClaim = ({ db }: Rooms, { id, lease }: ClaimedDelivery): Promise<unknown> =>
  db.sql.query(
    `UPDATE webhook_delivery SET tries = tries - 1, due_at = berth_now() WHERE id = $1 AND lease = $2 AND state = 'PENDING'`,
    [id, lease],
  )

export interface FailedTry {
  status: number | null
  error: string
  retryMs: number
}

/** Plans the next try, or gives up after the last one. */
export const recordFailed = ({ db }: Rooms, { id, lease }: ClaimedDelivery, failed: FailedTry): Promise<unknown> =>
  db.sql.query(failSql, [id, lease, failed.status, failed.error, failed.retryMs, triesMax], 'webhook_failed')

const failSql = `
UPDATE webhook_delivery SET status = $3, error = $4, due_at = berth_now() + $5 * interval '1 millisecond',
  state = CASE WHEN tries < $6 THEN state ELSE 'DEAD' END,
  finished_at = CASE WHEN tries < $6 THEN NULL ELSE berth_now() END
WHERE id = $1 AND lease = $2 AND state = 'PENDING'`

export async function expireDeliveries({ db }: Rooms, names: readonly string[]): Promise<void> {
  for (const name of names) {
    await removeInBatches(db.sql, expireSql, [name, 'DELIVERED', deliveredHoursKept])
    await removeInBatches(db.sql, expireSql, [name, 'DEAD', deadDaysKept * 24])
  }
}

const expireSql = `
DELETE FROM webhook_delivery WHERE ctid = ANY(ARRAY(
  SELECT ctid FROM webhook_delivery
  WHERE endpoint = $2 AND state = $3::text::webhook_delivery_state
    AND finished_at < (SELECT berth_now()) - $4 * interval '1 hour' LIMIT $1 FOR UPDATE SKIP LOCKED))
RETURNING 1`
