import DataLoader from 'dataloader'
import { seesAll, type Viewer } from '../../domain/access.ts'
import type { Domain } from '../../domain/domain.ts'
import { readLimitsInUse } from '../../domain/limits/in-use.ts'
import { type Limits, readLimits } from '../../domain/limits/limits.ts'
import { readOwnAccounts } from '../../domain/people/teams.ts'
import { type Estimate, estimateStarts } from '../../domain/queue/estimate.ts'
import { type FairShare, readFairShares } from '../../domain/queue/fair-shares.ts'
import { computeFits, type Fit } from '../../domain/queue/fit.ts'
import { type Position, readPositions, readPriorities } from '../../domain/queue/position.ts'
import { queueNumbers } from '../../domain/queue/queue.ts'
import { countReasons } from '../../domain/queue/reason-counts.ts'
import { explainWaiting, type WaitingFacts } from '../../domain/queue/why-waiting.ts'
import { holdingSql } from '../../domain/state.ts'
import type { Sql } from '../../platform/tx.ts'
import { byId, byParent } from './batches.ts'

/** Load scheduling details in batches; null: the job is not QUEUED. */
export function createWaitingLoaders(domain: Domain, viewer: Viewer) {
  const { sql } = domain.db
  return {
    waiting: byJob<WaitingFacts>((ids) => explainWaiting(domain, ids)),
    position: byJob<Position>((ids) => readPositions(sql, ids)),
    fit: byJob<Fit>((ids) => computeFits(domain, ids)),
    estimate: byJob<Estimate | null>((ids) => estimateStarts(domain, ids)),
    fairShare: byJob<FairShare>((ids) => readFairShares(sql, ids)),
    priorityNow: byJob<number>((ids) => readPriorities(sql, ids)),
    hold: byId((ids) => readHoldRows(sql, 'id', ids)),
    limitsOfPool: new DataLoader<string, Limits>(async (pools) => {
      const limits = await readLimits(sql, pools, domain.singleUser)
      return pools.map((pool) => limits.get(pool) ?? new Error(`The pool ${pool} was removed`))
    }),
    limitsInUse: oncePerPool((pool) => readLimitsInUse(domain, viewer, pool)),
    queueOfPool: oncePerPool((pool) => queueNumbers(domain, viewer, pool)),
    holdsOfPool: byPool((pools) => readHoldRows(sql, 'pool', pools)),
    reasonsOfPool: byPool((pools) => countReasons(sql, pools)),
    lostWorkOfPool: byPool((pools) => sql.query<LostWorkRow>(lostWorkSql, [pools], 'lost_work_of_pools')),
    accountsOfPool: byPool(async (pools) => {
      const known = seesAll(viewer) ? null : await readOwnAccounts(sql, viewer)
      return sql.query<AccountShareRow>(accountsSql, [pools, accountsMax, known], 'accounts_of_pools')
    }),
  }
}

/** Reads each pool alone: there are few, and a list has each of them many times. */
const oncePerPool = <Value>(read: (pool: string) => Promise<Value>) =>
  new DataLoader<string, Value>((pools) => Promise.all(pools.map(read)))

export interface LostWorkRow {
  pool: string
  runs: number
  seconds: number
  gpuSeconds: number
}

const lostWorkSql = `
SELECT p.pool, count(*) AS runs, coalesce(sum(r.lost_seconds), 0) AS seconds,
  coalesce(sum(r.lost_seconds * (l.shape->>'copies')::float8 * (l.shape->>'gpu')::float8), 0) AS "gpuSeconds"
FROM preemption p JOIN run r ON r.id = p.victim_run_id JOIN job j ON j.id = r.job_id JOIN lane l ON l.id = j.lane_id
WHERE p.pool = ANY($1::text[]) AND p.at > (SELECT berth_now()) - interval '24 hours' AND r.state = 'INTERRUPTED'
GROUP BY p.pool`

function byJob<Value>(read: (ids: readonly string[]) => Promise<ReadonlyMap<string, Value>>) {
  return new DataLoader<string, Value | null>(async (ids) => {
    const found = await read(ids)
    return ids.map((id) => found.get(id) ?? null)
  })
}

const byPool = <Row extends { pool: string }>(read: (pools: string[]) => Promise<readonly Row[]>) =>
  byParent('pool', read)

export interface HoldRow {
  id: string
  pool: string
  jobId: string
  nodes: string[]
  since: Date
  expectedAt: Date | null
  waitingForVictims: number
}

const holdsMax = 6

const readHoldRows = (sql: Sql, by: 'id' | 'pool', keys: readonly string[]): Promise<HoldRow[]> =>
  sql.query<HoldRow>(holdsSql(by), [keys], `holds_by_${by}`)

const holdsSql = (by: string) => `
SELECT id, pool, "jobId", nodes, since, "expectedAt", "waitingForVictims" FROM (
  SELECT h.id, h.pool, h.job_id AS "jobId", h.since, h.expected_at AS "expectedAt",
    ARRAY(SELECT DISTINCT n.node FROM jsonb_to_recordset(h.placements) AS n(node text) ORDER BY 1) AS nodes,
    (SELECT count(*) FROM preemption e JOIN run r ON r.id = e.victim_run_id
      WHERE e.pool = h.pool AND e.claimant_job_id = h.job_id AND e.at >= h.since
        AND r.state IN ${holdingSql}) AS "waitingForVictims",
    row_number() OVER (PARTITION BY h.pool ORDER BY h.since, h.id) AS place
  FROM hold h WHERE h.${by} = ANY($1::text[])
) each WHERE place <= ${holdsMax} ORDER BY since, id`

export interface AccountShareRow {
  pool: string
  account: string
  occupancy: number
  decayedUse: number | null
  share: number
  weight: number
  running: number
  queued: number
}

const accountsMax = 500

/** Orders accounts by share, then by waiting jobs. $3: only these accounts and those below; null: all. */
const accountsSql = `
SELECT pool, account, occupancy, decayed_use AS "decayedUse", share, weight, running, queued FROM (
  SELECT *, row_number() OVER (PARTITION BY pool ORDER BY share DESC, queued DESC, account) AS place
  FROM account_view a WHERE pool = ANY($1::text[]) AND ($3::text[] IS NULL OR EXISTS (
    SELECT FROM unnest($3::text[]) AS own WHERE a.account = own OR starts_with(a.account, own || '.')))
) v WHERE place <= $2::int ORDER BY pool, place`
