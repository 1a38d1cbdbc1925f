import { createHash } from 'node:crypto'
import { type Shape, shapeOf } from './shape.ts'
import type { JobSpec } from './spec.ts'

/**
 * A lane is a set of waiting jobs that are alike in everything their order, their limits and their placement depend on:
 * pool, person, team, the account whose share it has, project, queue, priority, kind, and the shape. So whatever is true of its first job now is
 * true of those behind it, their order never changes with time, and the leader of a pool need only know the first few.
 * The id is a hash of all of it: any process can name a lane without asking, and one that was removed because nobody used it
 * (retention.ts) comes back as it was.
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

export interface LaneOf {
  pool: string
  userId: string
  teamId: string | null
  /** The account whose share it has (accounts.ts), as it was when the job was submitted. */
  account: string
  spec: JobSpec
  basePriority: number
  override: number | null
}

export function laneOf({ pool, userId, teamId, account, spec, basePriority, override }: LaneOf): Lane {
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
    shape: shapeOf(spec.resources),
  }
  return { id: hashOf(Object.values(lane)), ...lane }
}

/** The first 128 bits of SHA-256, written as a UUID. */
function hashOf(values: readonly unknown[]): string {
  const hex = createHash('sha256').update(JSON.stringify(values)).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`
}

export const interactiveBand = 100

/** Where the entry of a job stands among all of its pool, as far as that never changes with time. */
export const bandOf = ({ interactive, priority }: Pick<Lane, 'interactive' | 'priority'>): number =>
  interactive ? interactiveBand : priority

export type Policy = 'PRIORITY' | 'FAIR_SHARE'

/** Under PRIORITY a bid counts among interactive jobs only. */
export const countedBid = (policy: Policy, { interactive, bid }: Pick<JobSpec, 'interactive' | 'bid'>): number =>
  policy === 'FAIR_SHARE' || interactive ? (bid ?? 0) : 0

/** Rows of `lane`, each once. */
export const lanesOf = (jobs: readonly { lane: Lane }[]): Lane[] => [
  ...new Map(jobs.map(({ lane }) => [lane.id, lane])).values(),
]

/** A part of a larger statement, over a set of rows `parameter` (JSON of Lane[]): stores those that are new. */
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
