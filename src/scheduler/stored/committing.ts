import { announceRuns } from '../../domain/changes.ts'
import type { Domain } from '../../domain/domain.ts'
import { dropHolds, requestEvictions } from '../../domain/jobs/holds.ts'
import { findInteractiveElsewhere, postponeInteractive } from '../../domain/jobs/one-interactive.ts'
import { recordStartKind } from '../../domain/jobs/runs.ts'
import { type Move, transition } from '../../domain/jobs/transition.ts'
import { type Leader, leadingSql, makeEpochOverError } from '../../domain/leadership.ts'
import { allocate } from '../../domain/machines/nodes.ts'
import { listChosen } from '../../domain/machines/placement.ts'
import { readSqlState, type Sql } from '../../platform/tx.ts'
import type { CommitTimes, Committed } from '../plan/leader-store.ts'
import type { Decisions, Eviction, Start, Waiting } from '../plan/model.ts'

/**
 * Commits decisions in one transaction under the epoch. Starts and changes of settings lock the row of the pool; its
 * revision shows whether the settings are still those of the plan.
 */
export async function commitDecisions(
  domain: Domain,
  leader: Leader,
  { decisions, revision }: { decisions: Decisions; revision: number },
): Promise<Committed> {
  try {
    const committed = await domain.db.transaction(async (sql): Promise<Committed> => {
      if (!(await lockPoolAt(sql, leader, revision))) return { kind: 'stale' }
      return write(sql, { domain, leader }, decisions)
    })
    if (committed.kind === 'committed') wakeReaders(domain, decisions)
    return committed
  } catch (error) {
    if (!isAlreadyTaken(error)) throw error
    const { starts, evictions } = decisions
    domain.log.warn(
      { err: error, pool: leader.pool, starts: starts.length, evictions: evictions.length },
      'decisions conflict with the database; loading the pool again',
    )
    return { kind: 'conflict' }
  }
}

/** true: a device, an amount, or the interactive run of the user is already taken. */
export const isAlreadyTaken = (error: unknown): boolean => ['23505', '23514'].includes(readSqlState(error) ?? '')

/** Locks the pool. Must be the first statement of each commit. false: the settings changed since the plan. */
export async function lockPoolAt(sql: Sql, leader: Leader, revision: number): Promise<boolean> {
  const values = [leader.pool, leader.epoch, leader.holder]
  const [row] = await sql.query<{ leads: boolean; revision: number }>(lockPoolSql, values, 'lock_pool_at')
  if (!row?.leads) throw makeEpochOverError(leader)
  return row.revision === revision
}

const lockPoolSql = `
WITH led AS MATERIALIZED (
  SELECT 1 ${leadingSql('$1', '$2', '$3')} FOR SHARE
)
SELECT EXISTS (SELECT FROM led) AS leads, revision FROM pool WHERE name = $1 FOR NO KEY UPDATE OF pool`

async function write(
  sql: Sql,
  { domain, leader: { pool, epoch } }: { domain: Domain; leader: Leader },
  { starts, refused, evictions, dropped }: Decisions,
): Promise<Committed> {
  const nowMs = domain.time.nowMs()
  const elsewhere = await handleInteractiveElsewhere(sql, starts)
  const kept = starts.filter(({ entry: { jobId } }) => !elsewhere.has(jobId))
  const sinceMs = await startRuns(sql, kept, nowMs)
  await refuse(sql, [...refused, ...starts.flatMap(({ entry }) => listRefusals(entry, elsewhere))], nowMs)
  await dropHolds(sql, dropped)
  const waiting = await requestEvictions(sql, { pool, epoch, evictions })
  const lost = starts.flatMap(({ entry }) => (sinceMs.has(entry.jobId) ? [] : [entry.jobId]))
  const lostClaims = evictions.filter(({ claimant }) => !waiting.has(claimant.jobId))
  await tellVictims(sql, pool, lostClaims)
  return { kind: 'committed', lost: [...lost, ...lostClaims.map(({ claimant }) => claimant.jobId)], sinceMs }
}

/**
 * Handles starts of interactive jobs whose user has an interactive run in another pool. Returns the message with which
 * a job fails, or null to postpone it.
 */
async function handleInteractiveElsewhere(
  sql: Sql,
  starts: readonly Start[],
): Promise<ReadonlyMap<string, string | null>> {
  const interactive = starts.filter(({ lane }) => lane.interactive)
  const { refused, waiting } = await findInteractiveElsewhere(
    sql,
    interactive.map(({ entry: { jobId }, lane: { userId } }) => ({ jobId, userId })),
  )
  await postponeInteractive(sql, waiting)
  return new Map([...refused, ...waiting.map((jobId) => [jobId, null] as const)])
}

function listRefusals(entry: Waiting, elsewhere: ReadonlyMap<string, string | null>): Decisions['refused'] {
  const info = elsewhere.get(entry.jobId)
  return info == null ? [] : [{ entry, info }]
}

const refuse = (sql: Sql, refused: Decisions['refused'], nowMs: number) =>
  transition(
    sql,
    refused.map(({ entry, info }) => ({
      jobId: entry.jobId,
      run: entry.run,
      from: 'QUEUED' as const,
      to: 'FAILED' as const,
      reason: 'INTERACTIVE_QUOTA' as const,
      info,
    })),
    nowMs,
  )

/** Makes the leader read victims again whose claimant no longer waits. */
async function tellVictims(sql: Sql, pool: string, lost: readonly Eviction[]): Promise<void> {
  const victims = lost.flatMap((eviction) => eviction.victims.map(({ running }) => running.runId))
  if (victims.length > 0) await announceRuns(sql, pool, victims)
}

/** Moves jobs to STARTING with their allocations, except those that another transaction moved. */
export async function startRuns(sql: Sql, starts: readonly Start[], nowMs: number): Promise<CommitTimes> {
  const moved = await transition(sql, starts.map(startMove), nowMs)
  const won = new Map(moved.map(({ jobId, scheduledMs }) => [jobId, scheduledMs ?? nowMs]))
  const runs = starts
    .filter(({ entry }) => won.has(entry.jobId))
    .map(({ entry, ...start }) => ({ runId: entry.runId, ...start }))
  if (runs.length > 0) await allocate(sql, runs)
  await recordStartKind(
    sql,
    runs.filter(({ wonTier, backfilledOn }) => wonTier !== null || backfilledOn !== null),
  )
  return won
}

const startMove = ({ entry, placements }: Start): Move => ({
  jobId: entry.jobId,
  run: entry.run,
  from: 'QUEUED',
  to: 'STARTING',
  reason: null,
  ...listChosen(placements),
})

function wakeReaders({ wakeups }: Domain, { starts, evictions, dropped, refused }: Decisions): void {
  if (starts.length + evictions.length + refused.length > 0) wakeups.poke('event')
  if (starts.length > 0) wakeups.poke('start')
  if (evictions.length + dropped.length > 0) wakeups.poke('run')
}
