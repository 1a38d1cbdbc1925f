import type { Sql } from '../../platform/tx.ts'
import {
  agingBands,
  type Cutoffs,
  computeCutoffs,
  computeEffectivePriority,
  type Moment,
  sqlTime,
  thresholdSql,
} from '../ageing.ts'
import { computeBand, computeCountedBid, interactiveBand, type Lane, type Policy } from '../lanes.ts'
import { readLineMoment } from './line.ts'
import { countAmongShares } from './share-positions.ts'
import { chunkSize, readTalliesOfJobs, readTally, type TallyChunk } from './tally.ts'

/**
 * Queue positions: 1 is next. Every QUEUED job of the pool counts, including jobs with closed gates and jobs that a
 * limit holds back.
 *
 * PRIORITY: interactive jobs by (-bid, sequence), then all others by (-priority raised by waiting, sequence). The
 * position is exact: for most chunks the tally shows that all or none of the jobs are ahead, and only the rows of the
 * other chunks are counted. FAIR_SHARE: interactive jobs, then all others by (share of the account, -bid, sequence):
 * share-positions.ts.
 *
 * Each statement has its own snapshot, milliseconds apart, so a job that joins or leaves in between may or may not
 * count.
 */

export interface Position {
  position: number
  /** false: an estimate. */
  exact: boolean
}

interface Asked {
  jobId: string
  pool: string
  policy: Policy
  band: number
  bid: number
  sequence: number
  account: string
  overridden: boolean
  open: boolean
  sinceMs: number
  thresholdMs: number
  nowMs: number
}

const readAsked = (sql: Sql, jobIds: readonly string[]) =>
  sql.query<Asked & { priority: number }>(askedSql, [jobIds], 'asked_positions')

export async function readPositions(sql: Sql, jobIds: readonly string[]): Promise<ReadonlyMap<string, Position>> {
  const [asked, tallies] = await Promise.all([readAsked(sql, jobIds), readTalliesOfJobs(sql, jobIds)])
  const chunks = Map.groupBy(tallies, ({ pool }) => pool)
  const counted = await Promise.all(
    [...Map.groupBy(asked, ({ pool }) => pool)].map(([pool, jobs]) =>
      countAhead(sql, { pool, jobs, chunks: chunks.get(pool) ?? [] }),
    ),
  )
  const ahead = new Map(counted.flatMap((each) => [...each]))
  return new Map(
    asked.map(({ jobId, policy }) => [jobId, { position: (ahead.get(jobId) ?? 0) + 1, exact: policy === 'PRIORITY' }]),
  )
}

export async function readPriorities(sql: Sql, jobIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const asked = await readAsked(sql, jobIds)
  const moment = (job: Asked) => (job.policy === 'PRIORITY' ? job : { ...job, thresholdMs: 0 })
  return new Map(asked.map((job) => [job.jobId, computeEffectivePriority({ ...job, band: job.priority }, moment(job))]))
}

/** Computes the position of a job that is not stored, behind all jobs with the same rank. */
export async function computePositionIfAdded(
  sql: Sql,
  lane: Pick<Lane, 'pool' | 'account' | 'priority' | 'interactive' | 'overridden'>,
  bid: number,
): Promise<number> {
  const [line, chunks] = await Promise.all([readLineMoment(sql, lane.pool), readTally(sql, lane.pool)])
  if (!line) throw new Error(`Pool ${lane.pool} not found`)
  const { policy, nowMs } = line
  const job: Asked = {
    ...line,
    jobId: '',
    pool: lane.pool,
    account: lane.account,
    overridden: lane.overridden,
    band: computeBand(lane),
    bid: computeCountedBid(policy, { interactive: lane.interactive, bid }),
    sequence: Number.MAX_SAFE_INTEGER,
    open: true,
    sinceMs: nowMs,
  }
  return ((await countAhead(sql, { pool: lane.pool, jobs: [job], chunks })).get('') ?? 0) + 1
}

/** Jobs of one pool. `chunks`: its tally if the pool orders by priority. */
interface OfPool {
  pool: string
  jobs: readonly Asked[]
  chunks: readonly TallyChunk[]
}

const countAhead = (sql: Sql, of: OfPool): Promise<Ahead> =>
  of.jobs[0]?.policy === 'FAIR_SHARE' ? countShares(sql, of) : countPriorities(sql, of)

async function countShares(sql: Sql, { pool, jobs }: OfPool): Promise<Ahead> {
  const [bidders, batch] = await Promise.all([
    countBidders(
      sql,
      pool,
      jobs.filter(({ band }) => band === interactiveBand),
    ),
    countAmongShares(
      sql,
      pool,
      jobs.filter(({ band }) => band !== interactiveBand),
    ),
  ])
  return new Map([...bidders.map(({ job, count }) => [job, count] as const), ...batch])
}

type Ahead = Map<string, number>

interface Count {
  job: string
  count: number
}

const askedSql = `
SELECT q.job_id AS "jobId", q.pool, p.policy::text AS policy, q.band, l.priority, q.bid, q.sequence, l.account, l.overridden, q.open,
  (extract(epoch FROM q.eligible_at) * 1000)::bigint AS "sinceMs", ${thresholdSql} AS "thresholdMs",
  (SELECT (extract(epoch FROM berth_now()) * 1000)::bigint) AS "nowMs"
FROM queue_entry q JOIN lane l ON l.id = q.lane_id JOIN pool p ON p.name = q.pool
LEFT JOIN pool_limits pl ON pl.pool = q.pool WHERE q.job_id = ANY($1::text[])`

/** A chunk whose rows must be counted. Times are text, because JSON has no infinity. */
interface Doubt {
  job: Asked
  band: number
  chunk: number
  open: boolean
  whole: string
  tied: string
}

async function countPriorities(sql: Sql, { pool, jobs, chunks }: OfPool): Promise<Ahead> {
  const ahead: Ahead = new Map()
  const doubts: Doubt[] = []
  const interactive = chunks
    .filter(({ band }) => band === interactiveBand)
    .reduce((sum, { entries }) => sum + entries, 0)
  const ofPriority = new Map<number, Judged[]>()
  for (const job of jobs) {
    if (job.band === interactiveBand) continue
    const priority = computeEffectivePriority(job, job)
    const judged = ofPriority.get(priority) ?? judge(chunks, priority, job)
    ofPriority.set(priority, judged)
    const counted = countChunks(job, judged)
    ahead.set(job.jobId, interactive + counted.sure)
    doubts.push(...counted.doubts)
  }
  const bidders = jobs.filter(({ band }) => band === interactiveBand)
  for (const counts of await Promise.all([
    countRows(sql, pool, doubts),
    correctOverridden(sql, pool, jobs),
    countBidders(sql, pool, bidders),
  ]))
    for (const { job, count } of counts) ahead.set(job, (ahead.get(job) ?? 0) + count)
  return ahead
}

/** Which part of a chunk is ahead of a job that is behind the chunk, in it, or before it. */
interface Judged {
  chunk: TallyChunk
  cut: Cutoffs
  behind: Part
  within: Part
  before: Part
}

function judge(chunks: readonly TallyChunk[], priority: number, moment: Moment): Judged[] {
  const ofBand = new Map<number, Cutoffs>()
  return chunks
    .filter(({ band }) => band !== interactiveBand)
    .map((chunk) => {
      const cut = ofBand.get(chunk.band) ?? computeCutoffs(chunk.band, priority, moment)
      ofBand.set(chunk.band, cut)
      const part = (own: number) => partAhead(chunk, cut, own)
      return { chunk, cut, behind: part(chunk.chunk + 1), within: part(chunk.chunk), before: part(chunk.chunk - 1) }
    })
    .filter(({ behind, within, before }) => behind !== 'NONE' || within !== 'NONE' || before !== 'NONE')
}

function countChunks(job: Asked, judged: readonly Judged[]): { sure: number; doubts: Doubt[] } {
  const own = Math.floor(job.sequence / chunkSize)
  let sure = 0
  const doubts: Doubt[] = []
  for (const { chunk, cut, behind, within, before } of judged) {
    const part = chunk.chunk < own ? behind : chunk.chunk === own ? within : before
    if (part === 'ALL') sure += chunk.entries
    else if (part === 'SOME') doubts.push(doubtOf(job, chunk, cut))
  }
  return { sure, doubts }
}

type Part = 'ALL' | 'SOME' | 'NONE'

/** Returns which part of a chunk is ahead. Entries with closed gates do not age, so only infinite times apply to them. */
function partAhead({ chunk, open, sinceMinMs, sinceMaxMs }: TallyChunk, cut: Cutoffs, own: number): Part {
  const still = (ms: number) => (open || ms === Infinity ? ms : -Infinity)
  const [whole, tied] = [still(cut.wholeMs), still(cut.tiedMs)]
  const until = chunk < own ? Math.max(whole, tied) : whole
  if ((sinceMaxMs ?? Infinity) <= until || until === Infinity) return 'ALL'
  const none = (sinceMinMs ?? -Infinity) > until || until === -Infinity
  if (chunk !== own) return none ? 'NONE' : 'SOME'
  return none && tied === -Infinity ? 'NONE' : 'SOME'
}

const doubtOf = (job: Asked, { band, chunk, open }: TallyChunk, { wholeMs, tiedMs }: Cutoffs): Doubt => ({
  job,
  band,
  chunk,
  open,
  whole: sqlTime(wholeMs),
  tied: sqlTime(tiedMs),
})

const wholeSql = `(d.whole = 'infinity' OR (q.open AND q.eligible_at <= d.whole))`
const tiedSql = `(d.tied = 'infinity' OR (q.open AND q.eligible_at <= d.tied))`

/**
 * Reads the rows of the chunks once for all jobs of one priority: a row counts for all jobs from the index `first` on.
 */
async function countRows(sql: Sql, pool: string, doubts: readonly Doubt[]): Promise<Count[]> {
  if (doubts.length === 0) return []
  const alike = [...Map.groupBy(doubts, ({ job: _, ...rows }) => Object.values(rows).join()).values()].map((each) =>
    each.toSorted((a, b) => a.job.sequence - b.job.sequence),
  )
  const asked = alike.flatMap(([rows, ...more], id) => {
    if (!rows) return []
    const { job, ...chunk } = rows
    return [{ ...chunk, id, places: [job, ...more.map((each) => each.job)].map(({ sequence }) => sequence) }]
  })
  const values = [pool, JSON.stringify(asked), chunkSize]
  const found = await sql.query<{ id: number; first: number; count: number }>(doubtsSql, values, 'queue_doubts')
  return found.flatMap(({ id, first, count }) =>
    (alike[id] ?? []).slice(first).map(({ job }) => ({ job: job.jobId, count })),
  )
}

/** Compares the bid (0 for these entries) too, because the key of the index has it before the sequence. */
const doubtsSql = `
SELECT d.id, c.first, c.count FROM jsonb_to_recordset($2::text::jsonb) AS d(
  id int, band int, chunk bigint, open boolean, whole timestamptz, tied timestamptz, places bigint[])
CROSS JOIN LATERAL (
  SELECT CASE WHEN ${wholeSql} THEN 0 ELSE width_bucket(q.sequence, d.places) END AS first, count(*)::int FROM queue_entry q
  WHERE q.pool = $1 AND q.band = d.band AND q.bid = 0 AND q.sequence >= d.chunk * $3::bigint AND q.sequence < (d.chunk + 1) * $3::bigint
    AND q.open = d.open AND (${wholeSql} OR (${tiedSql} AND q.sequence < d.places[cardinality(d.places)])) GROUP BY 1
) c`

/** Corrects the counts for entries whose priority a person set: they were counted as if waiting raised it. */
async function correctOverridden(sql: Sql, pool: string, jobs: readonly Asked[]): Promise<Count[]> {
  const asked = jobs.filter(({ band }) => band !== interactiveBand)
  const doubts = asked.flatMap((job) =>
    agingBands.flatMap((band) => {
      const priority = computeEffectivePriority(job, job)
      const { wholeMs, tiedMs } = computeCutoffs(band, priority, job)
      const aged = { job: job.jobId, band, before: job.sequence, whole: sqlTime(wholeMs), tied: sqlTime(tiedMs) }
      return Number.isFinite(wholeMs) || Number.isFinite(tiedMs) ? [{ ...aged, same: band === priority }] : []
    }),
  )
  if (doubts.length === 0) return []
  return sql.query<Count>(overriddenSql, [pool, JSON.stringify(doubts)], 'queue_overridden')
}

const overriddenSql = `
SELECT d.job, sum((d.same AND q.sequence < d.before)::int - (${wholeSql} OR (${tiedSql} AND q.sequence < d.before))::int)::int AS count
FROM jsonb_to_recordset($2::text::jsonb) AS d(
  job text, band int, whole timestamptz, tied timestamptz, before bigint, same boolean)
JOIN lane l ON l.pool = $1 AND l.overridden AND NOT l.interactive AND l.priority = d.band
JOIN queue_entry q ON q.lane_id = l.id GROUP BY d.job`

async function countBidders(sql: Sql, pool: string, jobs: readonly Asked[]): Promise<Count[]> {
  if (jobs.length === 0) return []
  return sql.query<Count>(biddersSql, [pool, JSON.stringify(jobs), interactiveBand], 'queue_bidders')
}

const biddersSql = `
SELECT a."jobId" AS job, count(*)::int AS count FROM jsonb_to_recordset($2::text::jsonb) AS a("jobId" text, bid int, sequence bigint)
JOIN queue_entry q ON q.pool = $1 AND q.band = $3 AND (q.bid > a.bid OR (q.bid = a.bid AND q.sequence < a.sequence))
GROUP BY a."jobId"`
