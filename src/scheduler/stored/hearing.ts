import type { Domain } from '../../domain/domain.ts'
import { cancelHopeless, gatesMax, openGates } from '../../domain/jobs/dependencies.ts'
import { type Leader, leadingSql, makeEpochOverError, runAsLeader } from '../../domain/leadership.ts'
import { readNodes } from '../../domain/machines/nodes.ts'
import { relaxed, type Sql } from '../../platform/tx.ts'
import type { KnownLanes, ReceivedChanges } from '../plan/leader-store.ts'
import type { Change } from '../plan/model.ts'
import { readEvicted, readNewLanes, readRuns, readSettings } from './reading.ts'

/**
 * Reads rows of `pool_change` and deletes them. A check costs one round trip and takes no locks; a transaction follows
 * only if there are changes or a gate is due. Its commit does not wait for the disk, because reading a change twice is
 * safe.
 *
 * While a transaction stays open (a backup), deleted rows stay in the index, and skipping 60,000 of them takes 50 ms.
 * So a check skips the transactions whose changes were all read.
 */

const changesMax = 10_000
/** Finds gates that open without a change, in case a notification was lost. */
const sweepMs = 30_000

export function createChangeReader(domain: Domain, leader: Leader) {
  const { pool } = leader
  let openedMs = 0
  let sweptMs = 0
  /** All changes of transactions before this one were read. */
  let heardXact = 0

  function dueGates({ nowMs, nextDueMs }: Look): DueGates | null {
    if (nowMs - sweptMs >= sweepMs) return { pool, afterMs: 0, untilMs: nowMs }
    return nextDueMs !== null && nextDueMs <= nowMs ? { pool, afterMs: openedMs, untilMs: nowMs } : null
  }

  function wasOpened({ afterMs, untilMs }: DueGates) {
    openedMs = untilMs
    if (afterMs === 0) sweptMs = untilMs
  }

  return {
    /** `openedUntilMs`: all gates that are due by this time are already open. */
    begin(openedUntilMs: number): void {
      openedMs = openedUntilMs
      sweptMs = openedUntilMs
      heardXact = 0
    },
    async listen(known: KnownLanes): Promise<ReceivedChanges> {
      const look = await lookAt(domain.db.sql, leader, { openedMs, heardXact })
      const { nowMs, nextDueMs } = look
      const gates = dueGates(look)
      if (!look.changed) heardXact = look.openXact
      if (!look.changed && !gates) return { nowMs, nextDueMs, changes: [], lanes: [], more: false }
      const hearing = { domain, leader, lanes: known, gates, heardXact }
      const heard = await runAsLeader(domain, leader, (sql) => hear(sql, hearing), relaxed)
      if (!heard.more) heardXact = look.openXact
      if (gates && !heard.dueLeft) wasOpened(gates)
      if (gates?.afterMs === 0) await cancelHopeless(domain, { pool })
      else if (heard.gated.length > 0) await cancelHopeless(domain, { jobIds: heard.gated })
      const { changes, lanes } = heard
      return { nowMs, nextDueMs: gates ? nowMs : nextDueMs, changes, lanes, more: heard.more || heard.dueLeft }
    },
  }
}

interface DueGates {
  pool: string
  /** Lower bound for gates; 0: includes gates from before this term. */
  afterMs: number
  untilMs: number
}

interface Look {
  nowMs: number
  changed: boolean
  nextDueMs: number | null
  /** The oldest open transaction; every older transaction has ended and writes no more changes. */
  openXact: number
}

async function lookAt(
  sql: Sql,
  leader: Leader,
  { openedMs, heardXact }: { openedMs: number; heardXact: number },
): Promise<Look> {
  const values = [leader.pool, leader.epoch, openedMs, heardXact, leader.holder]
  const [row] = await sql.query<Look & { leads: boolean }>(lookSql, values, 'look_for_changes')
  if (!row?.leads) throw makeEpochOverError(leader)
  return row
}

const lookSql = `
SELECT EXISTS (SELECT ${leadingSql('$1', '$2', '$5')}) AS leads, (extract(epoch FROM berth_now()) * 1000)::float8 AS "nowMs",
  EXISTS (SELECT FROM pool_change c WHERE c.pool = $1 AND c.xact >= $4) AS changed,
  pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS "openXact",
  (SELECT (extract(epoch FROM q.eligible_at) * 1000)::float8 FROM queue_entry q
   WHERE q.pool = $1 AND NOT q.open AND q.eligible_at > to_timestamp($3::float8 / 1000) ORDER BY q.eligible_at LIMIT 1) AS "nextDueMs"`

interface Hearing {
  domain: Domain
  leader: Leader
  lanes: KnownLanes
  gates: DueGates | null
  heardXact: number
}

interface Told extends Pick<ReceivedChanges, 'changes' | 'lanes' | 'more'> {
  gated: string[]
  dueLeft: boolean
}

async function hear(sql: Sql, { domain, leader, lanes, gates, heardXact }: Hearing): Promise<Told> {
  const dueLeft = gates !== null && (await openGates(sql, gates)) === gatesMax
  const rows = await takeRows(sql, leader.pool, heardXact)
  const gated = [...new Set(rows.flatMap(({ kind, jobId }) => (kind === 'GATED' && jobId ? [jobId] : [])))]
  const opened = gated.length > 0 ? await openAll(sql, gated) : 0
  const changes = await changesOf(sql, { domain, leader }, rows)
  const unknown = changes.flatMap((change) =>
    change.kind === 'JOINED' && !lanes.has(change.entry.laneId) ? [change.entry.laneId] : [],
  )
  const newLanes = await readNewLanes(sql, [...new Set(unknown)])
  return { changes, lanes: newLanes, gated, dueLeft, more: rows.length === changesMax || opened > 0 }
}

async function openAll(sql: Sql, jobIds: readonly string[]): Promise<number> {
  let opened = 0
  for (let i = 0; i < jobIds.length; i += gatesMax)
    opened += await openGates(sql, { jobIds: jobIds.slice(i, i + gatesMax) })
  return opened
}

interface ChangeRow {
  id: number
  kind: 'JOINED' | 'LEFT' | 'GATED' | 'RUN' | 'NODES' | 'SETTINGS'
  jobId: string | null
  laneId: string | null
  bid: number | null
  sequence: number | null
  runId: string | null
  run: number | null
  sinceMs: number | null
}

/** Reads changes in order: a later commit about the same entry has a greater number. */
async function takeRows(sql: Sql, pool: string, heardXact: number): Promise<ChangeRow[]> {
  const rows = await sql.query<ChangeRow>(
    `WITH told AS MATERIALIZED (SELECT ctid AS place, id FROM pool_change WHERE pool = $1 AND xact >= $2)
     DELETE FROM pool_change WHERE ctid = ANY(ARRAY(SELECT place FROM told ORDER BY id LIMIT ${changesMax}))
     RETURNING id, kind, job_id AS "jobId", lane_id AS "laneId", bid, sequence, run_id AS "runId", run,
       (extract(epoch FROM since) * 1000)::float8 AS "sinceMs"`,
    [pool, heardXact],
    'take_changes',
  )
  return rows.sort((a, b) => a.id - b.id)
}

async function changesOf(
  sql: Sql,
  { domain, leader }: Pick<Hearing, 'domain' | 'leader'>,
  rows: readonly ChangeRow[],
): Promise<Change[]> {
  const runIds = [...new Set(rows.flatMap(({ kind, runId }) => (kind === 'RUN' && runId ? [runId] : [])))]
  const runs = await readRuns(sql, runIds)
  const changes: Change[] = rows.flatMap((row) => entryChange(row) ?? [])
  const evicted = await readEvicted(
    sql,
    runIds.filter((runId) => !runs.has(runId)),
  )
  for (const runId of runIds)
    changes.push({
      kind: 'RUN',
      runId,
      running: runs.get(runId) ?? null,
      isSpared: !runs.has(runId) && !evicted.has(runId),
    })
  const hasChanged = (wanted: ChangeRow['kind']) => rows.some(({ kind }) => kind === wanted)
  // Reads the settings first, because they have the revision: if a node changes in between, the plan is refused as stale.
  const settings = hasChanged('SETTINGS') ? await readSettings(sql, leader.pool, domain.singleUser) : null
  if (hasChanged('NODES')) changes.push({ kind: 'NODES', nodes: await readNodes(sql, leader.pool) })
  if (settings) changes.push({ kind: 'SETTINGS', settings })
  return changes
}

function entryChange({ kind, jobId, laneId, bid, sequence, runId, run, sinceMs }: ChangeRow): Change | null {
  if (jobId === null || laneId === null) return null
  if (kind === 'LEFT') return { kind, jobId, laneId }
  if (kind !== 'JOINED' || runId === null || run === null || sequence === null) return null
  return { kind, entry: { jobId, laneId, runId, run, bid: bid ?? 0, sequence, sinceMs: sinceMs ?? 0 } }
}
