import { hash } from 'node:crypto'
import { type Shape, toShape } from './shape.ts'
import type { JobSpec } from './spec.ts'

/**
 * A lane is a set of waiting jobs that are equal in everything that decides their order, limits and placement. If the
 * first job cannot start, the jobs behind it cannot either, so the leader of a pool needs to know only the first few.
 * The id is a hash of these values: a lane that retention.ts removed gets the same id when it is created again.
 */

export interface Lane {
  id: string
  pool: string
  userId: string
  teamId: string | null
  account: string
  project: string | null
  queue: string
  executor: string
  priority: number
  overridden: boolean
  interactive: boolean
  preemptable: boolean
  restartable: boolean
  reservationId: string | null
  runSeconds: number | null
  shape: Shape
}

/** The maximum run time of batch jobs that state none and cannot be preempted. */
export const defaultRunSeconds = 172_800

/** The maximum run time that the submitter stated; null: none. A value equal to the default counts as not stated. */
export const findStatedRunSeconds = ({ runSeconds, preemptable, interactive }: Lane): number | null =>
  runSeconds === defaultRunSeconds && !preemptable && !interactive ? null : runSeconds

/** SQL of `findStatedRunSeconds` for a lane `l`. */
export const statedRunSecondsSql = `CASE WHEN l.run_seconds = ${defaultRunSeconds} AND NOT l.preemptable AND NOT l.interactive
  THEN NULL ELSE l.run_seconds END`

export interface LaneOf {
  pool: string
  userId: string
  teamId: string | null
  /** The account whose fair share the lane uses, fixed at submission. */
  account: string
  spec: JobSpec
  basePriority: number
  override: number | null
}

export function makeLane({ pool, userId, teamId, account, spec, basePriority, override }: LaneOf): Lane {
  const lane: Omit<Lane, 'id'> = {
    pool,
    userId,
    teamId,
    account,
    project: spec.project,
    queue: spec.queue,
    executor: spec.executor,
    priority: override ?? basePriority,
    overridden: override !== null,
    interactive: spec.interactive,
    preemptable: spec.preemptable,
    restartable: spec.restartable,
    reservationId: spec.capacityReservationId,
    runSeconds: spec.maxRunTimeSeconds > 0 ? spec.maxRunTimeSeconds : null,
    shape: toShape(spec.resources),
  }
  return { id: hashOf(Object.values(lane)), ...lane }
}

function hashOf(values: readonly unknown[]): string {
  const hex = hash('sha256', JSON.stringify(values))
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`
}

export const interactiveBand = 100

/** The part of an entry's rank that does not change with time. */
export const computeBand = ({ interactive, priority }: Pick<Lane, 'interactive' | 'priority'>): number =>
  interactive ? interactiveBand : priority

export type Policy = 'PRIORITY' | 'FAIR_SHARE'

/** The bid that counts: under PRIORITY, only interactive jobs have one. */
export const computeCountedBid = (
  policy: Policy,
  { interactive, bid }: Pick<JobSpec, 'interactive' | 'bid'>,
): number => (policy === 'FAIR_SHARE' || interactive ? (bid ?? 0) : 0)

export const listLanes = (jobs: readonly { lane: Lane }[]): Lane[] => [
  ...new Map(jobs.map(({ lane }) => [lane.id, lane])).values(),
]

/** Inserts new lanes; part of a larger statement. `parameter`: JSON of Lane[]. */
export const insertLanes = (parameter: string) => `
  INSERT INTO lane (id, pool, user_id, team_id, account, project, queue, executor, priority, overridden, interactive,
    preemptable, restartable, reservation_id, run_seconds, shape)
  SELECT id, pool, "userId", "teamId", account, project, queue, executor, priority, overridden, interactive,
    preemptable, restartable, "reservationId", "runSeconds", shape
  FROM jsonb_to_recordset(${parameter}::text::jsonb) AS l(
    id uuid, pool text, "userId" text, "teamId" text, account text, project text, queue text, executor text, priority int,
    overridden boolean, interactive boolean, preemptable boolean, restartable boolean, "reservationId" text,
    "runSeconds" float8, shape jsonb)
  ON CONFLICT (id) DO NOTHING`
