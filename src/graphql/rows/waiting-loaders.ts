import DataLoader from 'dataloader'
import { seesAll, type Viewer } from '../../domain/access.ts'
import type { Domain } from '../../domain/domain.ts'
import { NotFound } from '../../domain/errors.ts'
import { readLimitsInUse } from '../../domain/limits/in-use.ts'
import { type Limits, readLimits } from '../../domain/limits/limits.ts'
import { readOwnAccounts } from '../../domain/people/teams.ts'
import { type Estimate, estimateStarts } from '../../domain/queue/estimate.ts'
import { type FairShare, readFairShares } from '../../domain/queue/fair-shares.ts'
import { computeFits, type Fit } from '../../domain/queue/fit.ts'
import { type Position, readPositions, readPriorities } from '../../domain/queue/position.ts'
import { readQueueCounts } from '../../domain/queue/queue.ts'
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
    limitsOfPool: byExistingPool<Limits>((pools) => readLimits(sql, pools, domain.singleUser)),
    limitsInUse: byExistingPool((pools) => readLimitsInUse(domain, viewer, pools)),
    queueOfPool: byExistingPool((pools) => readQueueCounts(domain, viewer, pools)),
    holdsOfPool: byPool((pools) => readHoldRows(sql, 'pool', pools)),
    reasonsOfPool: byPool((pools) => countReasons(sql, pools)),
    accountsOfPool: byPool(async (pools) => {
      const known = seesAll(viewer) ? null : await readOwnAccounts(sql, viewer)
      return sql.query<AccountShareRow>(accountsSql, [pools, accountsMax, known], 'accounts_of_pools')
    }),
  }
}

/** Creates a loader by pool. An unknown pool fails only its own load. */
const byExistingPool = <Value>(read: (pools: readonly string[]) => Promise<ReadonlyMap<string, Value>>) =>
  new DataLoader<string, Value>(async (pools) => {
    const found = await read(pools)
    return pools.map((pool) => found.get(pool) ?? new NotFound(`Pool ${pool.slice(0, 64)} not found`))
  })

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

/** Orders accounts by share, then by waiting jobs. $3: only these accounts and their descendants; null: all. */
const accountsSql = `
SELECT pool, account, occupancy, decayed_use AS "decayedUse", share, weight, running, queued FROM (
  SELECT *, row_number() OVER (PARTITION BY pool ORDER BY share DESC, queued DESC, account) AS place
  FROM account_view a WHERE pool = ANY($1::text[]) AND ($3::text[] IS NULL OR EXISTS (
    SELECT FROM unnest($3::text[]) AS own WHERE a.account = own OR starts_with(a.account, own || '.')))
) v WHERE place <= $2::int ORDER BY pool, place`
