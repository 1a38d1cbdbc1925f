import type { Domain } from '../../domain/domain.ts'
import { type Leader, runAsLeader } from '../../domain/leadership.ts'
import { relaxed, type Sql } from '../../platform/tx.ts'
import type { ViewChanges } from '../plan/leader-store.ts'

/**
 * Publishes rows for readers in every process. Commits do not wait for the disk: after a crash the next leader writes
 * the rows again.
 */
interface Publication {
  changes: ViewChanges
  replaces: boolean
}

/** Writes changed rows. If only the time of a finding changed, servers that show the queue are not notified. */
export async function publish(domain: Domain, leader: Leader, { changes, replaces }: Publication): Promise<void> {
  const { lanes, plans, accounts } = changes
  const isNews = changes.isNews || replaces
  if (!replaces && lanes.size + plans.size + accounts.size === 0) return
  const views = [
    [laneView, lanes],
    [planView, plans],
    [accountView, accounts],
  ] as const
  const work = async (sql: Sql) => {
    for (const [table, rows] of views) await write(sql, leader.pool, { table, rows, replaces })
    if (isNews) await sql.query(revisedSql, [leader.pool], 'pool_view')
  }
  await runAsLeader(domain, leader, work, relaxed)
  if (isNews) domain.wakeups.poke('view')
}

/** Must be the last statement, so that its lock is held as briefly as possible. */
const revisedSql = `
INSERT INTO pool_view (pool) VALUES ($1) ON CONFLICT (pool) DO UPDATE SET revision = pool_view.revision + 1`

interface Table {
  name: string
  key: string
  upsert: string
  where?: string
}

const consideredAt = `to_timestamp(r."consideredMs" / 1000)`

const laneView: Table = {
  name: 'lane_view',
  key: 'lane_id::text',
  upsert: `
    INSERT INTO lane_view (lane_id, pool, waiting, head_job_id, head_bid, head_sequence, priority, reason, considered_at)
    SELECT r.key::uuid, $1, r.waiting, r."headJobId", r."headBid", r."headSequence", r.priority, nullif(r.reason, 'null'), ${consideredAt}
    FROM jsonb_to_recordset($2::text::jsonb) AS r(key text, waiting int, "headJobId" text, "headBid" int, "headSequence" bigint,
      priority int, reason jsonb, "consideredMs" float8)
    ON CONFLICT (lane_id) DO UPDATE SET waiting = excluded.waiting, head_job_id = excluded.head_job_id,
      head_bid = excluded.head_bid, head_sequence = excluded.head_sequence, priority = excluded.priority,
      reason = excluded.reason, considered_at = excluded.considered_at`,
}

/** Planned starts of jobs that still wait and have no hold. */
const planView: Table = {
  name: 'hold',
  key: 'job_id',
  where: `kind = 'PLANNED'`,
  upsert: `
    INSERT INTO hold (id, pool, job_id, kind, placements, expected_at)
    SELECT 'hold_' || substring(r.key FROM position('_' IN r.key) + 1), $1, r.key, 'PLANNED', r.placements,
      to_timestamp(r."expectedMs" / 1000)
    FROM jsonb_to_recordset($2::text::jsonb) AS r(key text, placements jsonb, "expectedMs" float8)
    WHERE r.key IN (SELECT job_id FROM queue_entry WHERE job_id = r.key FOR KEY SHARE)
    ON CONFLICT (job_id) DO UPDATE SET placements = excluded.placements, expected_at = excluded.expected_at
      WHERE hold.kind = 'PLANNED'`,
}

const accountView: Table = {
  name: 'account_view',
  key: 'account',
  upsert: `
    INSERT INTO account_view (pool, account, occupancy, decayed_use, share, weight, running, queued)
    SELECT $1, r.key, r.occupancy, r."decayedUse", r.share, r.weight, r.running, r.queued
    FROM jsonb_to_recordset($2::text::jsonb) AS r(key text, occupancy float8, "decayedUse" float8, share float8, weight float8,
      running int, queued int)
    ON CONFLICT (pool, account) DO UPDATE SET occupancy = excluded.occupancy, decayed_use = excluded.decayed_use,
      share = excluded.share, weight = excluded.weight, running = excluded.running, queued = excluded.queued`,
}

interface Write {
  table: Table
  rows: ReadonlyMap<string, object | null>
  replaces: boolean
}

async function write(sql: Sql, pool: string, { table, rows, replaces }: Write): Promise<void> {
  const { where = 'true' } = table
  const here = [...rows].flatMap(([key, row]) => (row ? [{ key, ...row }] : []))
  const gone = [...rows].flatMap(([key, row]) => (row ? [] : [key]))
  const [which, keys] = replaces ? ['<> ALL', here.map(({ key }) => key)] : ['= ANY', gone]
  if (replaces || gone.length > 0)
    await sql.query(`DELETE FROM ${table.name} WHERE pool = $1 AND ${where} AND ${table.key} ${which}($2::text[])`, [
      pool,
      keys,
    ])
  if (here.length > 0) await sql.query(table.upsert, [pool, JSON.stringify(here)])
}
