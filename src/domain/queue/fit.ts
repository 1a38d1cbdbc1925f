import type { Sql } from '../../platform/tx.ts'
import type { Domain } from '../domain.ts'
import type { Lane, Policy } from '../lanes.ts'
import { isLedSql } from '../leadership.ts'
import { readCeilings } from '../limits/in-use.ts'
import {
  type Ceilings,
  type Counted,
  limitReached,
  listRemainingGpus,
  modelLimitReached,
  withoutUsage,
} from '../limits/limit-reached.ts'
import {
  isWithinShare,
  none,
  type ResourceAmounts,
  requestedAmounts,
  sharedCapacity,
  sumAmounts,
} from '../machines/amounts.ts'
import { missing } from '../machines/missing-resources.ts'
import { readNodes } from '../machines/nodes.ts'
import { couldEverFit, type FreeNode, place, placeOnEmpty } from '../machines/placement.ts'
import { closedNodes } from '../machines/reservation-window.ts'
import { type PoolReservation, readPoolReservations } from '../machines/reservations.ts'
import { limitedBy, overPart, type Reason, unnamed, unsatisfiable } from '../reason.ts'
import { mergeSettings, type StoredSettings } from '../scheduling.ts'
import { inWords, type Shape } from '../shape.ts'
import { holdingSql } from '../state.ts'

/** Whether a job fits. */
export interface Fit {
  /** The job can start in the next pass: its resources are free, and not kept for jobs before it. */
  freeNow: boolean
  /** The job could start on empty machines. */
  couldEverFit: boolean
  missing: string[]
  /** The reason why it cannot start until the machines, limits or settings of the pool change; null: it can. */
  never: Reason | null
}

export interface FitSubject extends Counted, Pick<Lane, 'pool' | 'interactive' | 'preemptable' | 'runSeconds'> {
  shape: Shape
  /** Restricts the job to the nodes of a capacity reservation. */
  reservationId: string | null
}

export interface WaitingShape extends FitSubject {
  jobId: string
  laneId: string
  now: Date
  /** Why the leader last found that the lane cannot start; null: it found nothing, or the pool has no leader. */
  found: Reason | null
}

export const readWaitingShapes = (sql: Sql, jobIds: readonly string[]): Promise<WaitingShape[]> =>
  sql.query<WaitingShape>(
    `SELECT j.id AS "jobId", j.pool, j.lane_id::text AS "laneId", l.shape, l.reservation_id AS "reservationId",
       l.run_seconds AS "runSeconds", l.interactive, l.preemptable, j.user_id AS "userId", u.name AS "userName",
       j.team_id AS "teamId", t.name AS team, j.queue, j.project, j.gpu,
       coalesce((l.shape->>'exclusive')::boolean, false) AS exclusive, berth_now() AS now,
       CASE WHEN ${isLedSql('j.pool')} THEN (SELECT v.reason FROM lane_view v WHERE v.lane_id = j.lane_id) END AS found
     FROM job j JOIN lane l ON l.id = j.lane_id JOIN "user" u ON u.id = j.user_id LEFT JOIN team t ON t.id = j.team_id
     WHERE j.id = ANY($1::text[]) AND j.state IN ('QUEUED', 'BLOCKED')`,
    [jobIds],
    'waiting_shapes',
  )

/** For QUEUED and BLOCKED jobs. Computes the fit once per lane. */
export async function computeFits(domain: Domain, jobIds: readonly string[]): Promise<ReadonlyMap<string, Fit>> {
  const rows = await readWaitingShapes(domain.db.sql, jobIds)
  const names = [...new Set(rows.map(({ pool }) => pool))]
  const pools = new Map(await Promise.all(names.map(async (pool) => [pool, await readPool(domain, pool)] as const)))
  const tried = new Map<string, Fit>()
  return new Map(
    rows.flatMap((row) => {
      const pool = pools.get(row.pool)
      const fit = tried.get(row.laneId) ?? (pool && judgedByLeader(fitIn(pool, row), row.found))
      if (!fit) return []
      tried.set(row.laneId, fit)
      return [[row.jobId, fit] as const]
    }),
  )
}

/** The leader also knows what is kept for other jobs. */
export const judgedByLeader = (fit: Fit, found: Reason | null): Fit =>
  fit.freeNow && found ? { ...fit, freeNow: false, missing: [unnamed(found).message] } : fit

export const computeFit = async (domain: Domain, job: FitSubject): Promise<Fit> =>
  fitIn(await readPool(domain, job.pool), job)

/** The fit of a job that was just placed, or has started meanwhile. */
export const isThere: Fit = { freeNow: true, couldEverFit: true, missing: [], never: null }

interface PoolNow {
  nodes: readonly FreeNode[]
  reservations: readonly PoolReservation[]
  ceilings: Ceilings
  /** Fraction of each resource that all non-preemptable jobs together may hold. */
  part: number
  /** Amounts that non-preemptable jobs hold. */
  unpreemptable: ResourceAmounts
  nowMs: number
}

function fitIn(pool: PoolNow, job: FitSubject): Fit {
  const own = ownNodes(pool, job)
  const never = neverFits(pool, job, own)
  if (never) {
    const lacking = missing(job.shape, own)
    const words = never.code === 'UNSATISFIABLE' ? lacking : [...lacking, never.message]
    return { freeNow: false, couldEverFit: false, missing: words, never }
  }
  const found = missingNow(pool, job, own)
  return { freeNow: found.length === 0, couldEverFit: true, missing: found, never: null }
}

function ownNodes({ nodes, reservations }: PoolNow, { reservationId }: FitSubject): readonly FreeNode[] {
  if (reservationId === null) return nodes
  const own = reservations.find(({ id }) => id === reservationId)
  return nodes.filter(({ name }) => own?.nodes.includes(name) ?? false)
}

function neverFits(pool: PoolNow, job: FitSubject, own: readonly FreeNode[]): Reason | null {
  const { shape, reservationId } = job
  if (!couldEverFit(shape, own)) return unsatisfiable(inWords(shape), reservationId)
  const ceilings = withoutUsage(pool.ceilings)
  const limit = limitReached(ceilings, job)
  if (limit) return limitedBy(limit)
  const models = permittedModels(ceilings, job, own)
  if (models.over && !couldEverFit(shape, models.nodes)) return limitedBy(models.over)
  return aloneOverPart(job, pool.nodes, own, pool.part)
}

/** The reason for a non-preemptable job that alone exceeds this fraction; null: it does not. */
export function aloneOverPart(
  { shape, interactive, preemptable }: Pick<FitSubject, 'shape' | 'interactive' | 'preemptable'>,
  nodes: readonly FreeNode[],
  own: readonly FreeNode[],
  part: number,
): Reason | null {
  if (interactive || preemptable || part >= 1) return null
  const asked = shape.exclusive ? sumAmounts(placeOnEmpty(shape, own) ?? []) : requestedAmounts(shape)
  return isWithinShare([asked], sharedCapacity(nodes), part) ? null : overPart(part, inWords(shape), { isWhole: true })
}

function missingNow(pool: PoolNow, job: FitSubject, own: readonly FreeNode[]): string[] {
  const { shape, reservationId, runSeconds } = job
  const lacking = missing(shape, own)
  if (lacking.length > 0) return lacking
  const limit = limitReached(pool.ceilings, job)
  if (limit) return [limit.message]
  const open = reservationId === null ? openNodes(pool, own, runSeconds) : own
  if (open !== own && !place(shape, open)) return [reservedText(pool, job, own)]
  const models = permittedModels(pool.ceilings, job, open)
  const placed = place(shape, models.nodes)
  if (!placed) return models.over ? [models.over.message] : missing(shape, models.nodes)
  const isOver =
    !job.interactive &&
    !job.preemptable &&
    !isWithinShare([pool.unpreemptable, sumAmounts(placed)], sharedCapacity(pool.nodes), pool.part)
  return isOver ? [overPart(pool.part, inWords(shape), { isWhole: false }).message] : []
}

function openNodes({ reservations, nowMs }: PoolNow, own: readonly FreeNode[], runSeconds: number | null) {
  const closed = closedNodes(reservations, { atMs: nowMs, runSeconds })
  return closed.size > 0 ? own.filter(({ name }) => !closed.has(name)) : own
}

/** Also names the run time with which the job would end before the windows that keep it out. */
function reservedText(pool: PoolNow, { shape }: FitSubject, own: readonly FreeNode[]): string {
  const begins = pool.reservations
    .filter(({ startsMs }) => startsMs > pool.nowMs)
    .map(({ startsMs }) => ({ startsMs, seconds: (startsMs - pool.nowMs) / 1_000 }))
    .toSorted((a, b) => b.seconds - a.seconds)
    .find(({ seconds }) => place(shape, openNodes(pool, own, seconds)))
  if (!begins) return 'The free resources are reserved for other projects'
  const from = new Date(begins.startsMs).toISOString()
  return `The free resources are reserved for other projects from ${from} on. To start before, name a run time of less than ${durationText(begins.seconds)}: --max-run-time, maxRunTimeSeconds`
}

function durationText(seconds: number): string {
  if (seconds < 120) return `${Math.floor(seconds)} s`
  const minutes = Math.floor(seconds / 60)
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** The nodes without GPUs of models that limits forbid to a copy; `over`: such a limit. */
function permittedModels(ceilings: Ceilings, job: FitSubject, nodes: readonly FreeNode[]) {
  if (job.shape.exclusive || job.shape.gpu === 0) return { nodes, over: null }
  const full = listRemainingGpus(ceilings, job).filter(({ gpus }) => gpus < job.shape.gpu)
  if (full.length === 0) return { nodes, over: null }
  const isFull = (name: string) => full.some(({ model }) => name.toLowerCase().includes(model))
  const names = Array.from({ length: job.shape.gpu }, () => full[0]?.model ?? '')
  return {
    nodes: nodes.map((node) => ({ ...node, devices: node.devices.filter(({ model }) => !isFull(model)) })),
    over: modelLimitReached(ceilings, job, names)?.limit ?? null,
  }
}

async function readPool({ db: { sql }, singleUser }: Domain, pool: string): Promise<PoolNow> {
  const [rows, nodes, reservations, ceilings] = await Promise.all([
    sql.query<{ policy: Policy; scheduling: StoredSettings; now: Date }>(
      'SELECT policy::text, scheduling, berth_now() AS now FROM pool WHERE name = $1',
      [pool],
      'fit_pool',
    ),
    readNodes(sql, pool),
    readPoolReservations(sql, pool, null),
    readCeilings(sql, pool, singleUser),
  ])
  const [row] = rows
  const part = row ? mergeSettings(row.policy, row.scheduling).nonPreemptableFraction : 1
  const held = part < 1 ? await sql.query<ResourceAmounts>(unpreemptableSql, [pool], 'unpreemptable') : []
  return { nodes, reservations, ceilings, part, unpreemptable: held[0] ?? none, nowMs: row?.now.getTime() ?? 0 }
}

const unpreemptableSql = `
SELECT coalesce(sum(a.cpu), 0)::float8 AS cpu, coalesce(sum(a.memory), 0)::float8 AS memory, coalesce(sum(a.gpu), 0)::float8 AS gpu
FROM run r JOIN job j ON j.id = r.job_id JOIN lane l ON l.id = j.lane_id
CROSS JOIN LATERAL (SELECT sum(cpu_millis) AS cpu, sum(memory_bytes) AS memory,
  (SELECT count(*) FROM held_device h WHERE h.run_id = r.id) AS gpu FROM allocation WHERE run_id = r.id) a
WHERE r.pool = $1 AND r.state IN ${holdingSql} AND NOT l.preemptable AND NOT l.interactive`
