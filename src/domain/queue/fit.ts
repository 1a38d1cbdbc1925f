import type { Sql } from '../../platform/tx.ts'
import type { Domain } from '../domain.ts'
import type { Lane, Policy } from '../lanes.ts'
import { isLedSql } from '../leadership.ts'
import { readCeilings } from '../limits/in-use.ts'
import {
  type Ceilings,
  type Counted,
  clearUsage,
  findLimitReached,
  findModelLimitReached,
  listRemainingGpus,
} from '../limits/limit-reached.ts'
import {
  computeSharedCapacity,
  isWithinShare,
  none,
  type ResourceAmounts,
  sumAmounts,
  sumRequested,
} from '../machines/amounts.ts'
import { listMissingResources } from '../machines/missing-resources.ts'
import { readNodes } from '../machines/nodes.ts'
import { couldEverFit, type FreeNode, place, placeOnEmpty } from '../machines/placement.ts'
import { listClosedNodes } from '../machines/reservation-window.ts'
import { type PoolReservation, readPoolReservations } from '../machines/reservations.ts'
import {
  hideBlockingJob,
  makeLimitReason,
  makeOverPartReason,
  makeUnsatisfiableReason,
  type Reason,
} from '../reason.ts'
import { mergeSettings, type StoredSettings } from '../scheduling.ts'
import { describeShape, type Shape } from '../shape.ts'
import { holdingSql } from '../state.ts'

export interface Fit {
  /** true: the job can start in the next pass, because its resources are free and not kept for jobs ahead. */
  freeNow: boolean
  couldEverFit: boolean
  missing: string[]
  /** Why the job cannot start until the machines, limits or settings of the pool change; null: it can start. */
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
      const fit = tried.get(row.laneId) ?? (pool && correctByLeader(fitIn(pool, row), row.found))
      if (!fit) return []
      tried.set(row.laneId, fit)
      return [[row.jobId, fit] as const]
    }),
  )
}

/** Corrects a fit by the finding of the leader, which also knows the resources that are kept for other jobs. */
export const correctByLeader = (fit: Fit, found: Reason | null): Fit =>
  fit.freeNow && found ? { ...fit, freeNow: false, missing: [hideBlockingJob(found).message] } : fit

export const computeFit = async (domain: Domain, job: FitSubject): Promise<Fit> =>
  fitIn(await readPool(domain, job.pool), job)

/** The fit of a job that the leader has placed, or that has started meanwhile. */
export const placedFit: Fit = { freeNow: true, couldEverFit: true, missing: [], never: null }

interface PoolNow {
  nodes: readonly FreeNode[]
  reservations: readonly PoolReservation[]
  ceilings: Ceilings
  /** Fraction of each resource that all non-preemptable jobs together may hold. */
  part: number
  unpreemptable: ResourceAmounts
  nowMs: number
}

function fitIn(pool: PoolNow, job: FitSubject): Fit {
  const own = ownNodes(pool, job)
  const never = neverFits(pool, job, own)
  if (never) {
    const lacking = listMissingResources(job.shape, own)
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
  if (!couldEverFit(shape, own)) return makeUnsatisfiableReason(describeShape(shape), reservationId)
  const ceilings = clearUsage(pool.ceilings)
  const limit = findLimitReached(ceilings, job)
  if (limit) return makeLimitReason(limit)
  const models = permittedModels(ceilings, job, own)
  if (models.over && !couldEverFit(shape, models.nodes)) return makeLimitReason(models.over)
  return explainAloneOverPart(job, pool.nodes, own, pool.part)
}

/** The reason for a non-preemptable job that alone exceeds the fraction `part`; null: the job does not exceed it. */
export function explainAloneOverPart(
  { shape, interactive, preemptable }: Pick<FitSubject, 'shape' | 'interactive' | 'preemptable'>,
  nodes: readonly FreeNode[],
  own: readonly FreeNode[],
  part: number,
): Reason | null {
  if (interactive || preemptable || part >= 1) return null
  const asked = shape.exclusive ? sumAmounts(placeOnEmpty(shape, own) ?? []) : sumRequested(shape)
  return isWithinShare([asked], computeSharedCapacity(nodes), part)
    ? null
    : makeOverPartReason(part, describeShape(shape), { isWhole: true })
}

function missingNow(pool: PoolNow, job: FitSubject, own: readonly FreeNode[]): string[] {
  const { shape, reservationId, runSeconds } = job
  const lacking = listMissingResources(shape, own)
  if (lacking.length > 0) return lacking
  const limit = findLimitReached(pool.ceilings, job)
  if (limit) return [limit.message]
  const open = reservationId === null ? openNodes(pool, own, runSeconds) : own
  if (open !== own && !place(shape, open)) return [reservedText(pool, job, own)]
  const models = permittedModels(pool.ceilings, job, open)
  const placed = place(shape, models.nodes)
  if (!placed) return models.over ? [models.over.message] : listMissingResources(shape, models.nodes)
  const isOver =
    !job.interactive &&
    !job.preemptable &&
    !isWithinShare([pool.unpreemptable, sumAmounts(placed)], computeSharedCapacity(pool.nodes), pool.part)
  return isOver ? [makeOverPartReason(pool.part, describeShape(shape), { isWhole: false }).message] : []
}

function openNodes({ reservations, nowMs }: PoolNow, own: readonly FreeNode[], runSeconds: number | null) {
  const closed = listClosedNodes(reservations, { atMs: nowMs, runSeconds })
  return closed.size > 0 ? own.filter(({ name }) => !closed.has(name)) : own
}

/** Names the maximum run time with which the job would end before the windows of other projects. */
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

/** Returns the nodes without the GPUs whose models have too little limit left for a copy. `over`: such a limit. */
function permittedModels(ceilings: Ceilings, job: FitSubject, nodes: readonly FreeNode[]) {
  if (job.shape.exclusive || job.shape.gpu === 0) return { nodes, over: null }
  const full = listRemainingGpus(ceilings, job).filter(({ gpus }) => gpus < job.shape.gpu)
  if (full.length === 0) return { nodes, over: null }
  const isFull = (name: string) => full.some(({ model }) => name.toLowerCase().includes(model))
  const names = Array.from({ length: job.shape.gpu }, () => full[0]?.model ?? '')
  return {
    nodes: nodes.map((node) => ({ ...node, devices: node.devices.filter(({ model }) => !isFull(model)) })),
    over: findModelLimitReached(ceilings, job, names)?.limit ?? null,
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
