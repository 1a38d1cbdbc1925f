import { newId } from '../platform/ids.ts'
import type { Sql } from '../platform/tx.ts'
import { dependencyViolations, type NamedJob, readNamedJobs } from './dependencies.ts'
import { InvalidInput, Refusal } from './errors.ts'
import type { NewJob } from './insert.ts'
import { answerOf, hashVersion, keyName, readKeys, type StoredKey } from './keys.ts'
import { normalise } from './normalise.ts'
import { type Door, readDoors, route } from './routing.ts'
import { shapeOf, tooLarge } from './shape.ts'
import type { Submission } from './submission.ts'
import { accountFor, type Memberships, noMemberships, readMemberships, teamFor } from './teams.ts'

/**
 * How a group of submissions is decided. What all of them need is read in sets, a constant number of statements; then
 * each is decided in memory, in order of arrival, and takes its part of the world: its key, its slot, its share of a
 * quota are gone for those behind it.
 *
 * The order of the questions is a promise. The key comes first, so a retry is answered though its queue is gone; then
 * what the submission is (`place`), and last what it takes.
 */
export type Decision = { job: NewJob; warnings: string[] } | { hit: string } | { refusal: Refusal }

export interface World {
  doors: readonly Door[]
  named: ReadonlyMap<string, NamedJob>
  memberships: ReadonlyMap<string, Memberships>
  /** Grows with every job that is accepted. */
  keys: Map<string, StoredKey>
}

export async function decideGroup(sql: Sql, items: readonly Submission[], nowMs: number): Promise<Decision[]> {
  const world = await readWorld(sql, items)
  return items.map((item) => settle(() => decide(item, world, nowMs)))
}

async function readWorld(sql: Sql, items: readonly Submission[]): Promise<World> {
  const keys = await readKeys(sql, keysOf(items))
  const doors = await readDoors(sql)
  const named = await readNamedJobs(
    sql,
    items.flatMap(({ input }) => (input.spec.dependsOn ?? []).map(({ jobId }) => jobId)),
  )
  const memberships = await readMemberships(
    sql,
    items.map(({ viewer }) => viewer.userId),
  )
  return { keys, doors, named, memberships }
}

export const keysOf = (items: readonly Submission[]) =>
  items.flatMap(({ viewer: { userId }, key }) => (key ? [{ userId, key: key.key }] : []))

function settle(decide: () => Decision): Decision {
  try {
    return decide()
  } catch (error) {
    if (error instanceof Refusal) return { refusal: error }
    throw error
  }
}

function decide(item: Submission, world: World, nowMs: number): Decision {
  const answered = answeredByKey(item, world.keys)
  if (answered) return answered
  const { job, warnings } = place(item, world, nowMs)
  if (item.key) world.keys.set(keyName(item.viewer.userId, item.key.key), storedKey(job, item.key))
  return { job, warnings }
}

/** The job of an earlier submission with the same key, or the conflict with it. */
export function answeredByKey({ viewer, key }: Submission, keys: ReadonlyMap<string, StoredKey>): Decision | undefined {
  const answer = key ? answerOf(keys.get(keyName(viewer.userId, key.key)), key) : undefined
  if (answer === undefined) return undefined
  return typeof answer === 'string' ? { hit: answer } : { refusal: answer }
}

const storedKey = (job: NewJob, key: NonNullable<Submission['key']>): StoredKey => ({
  userId: job.viewer.userId,
  key: key.key,
  hash: key.hash,
  hashVersion,
  jobId: job.id,
  live: true,
})

/** What the submission becomes: its pool, executor, team, account and normalised spec. */
function place({ viewer, input, key, retryOf }: Submission, world: World, nowMs: number) {
  const way = route(input.spec, world.doors)
  const memberships = world.memberships.get(viewer.userId) ?? noMemberships
  const team = teamFor(input.spec.team, memberships)
  const account = accountFor({ asked: input.spec.account, viewer, memberships, team })
  const violations = [...references(input.spec), ...dependencyViolations(input.spec, world.named, viewer)]
  if (violations.length > 0) throw new InvalidInput(violations)
  const { spec, warnings } = normalise({ ...input.spec, team: team?.name }, way, account)
  const oversized = tooLarge(shapeOf(spec.resources))
  if (oversized.length > 0) throw new InvalidInput(oversized)
  const job: NewJob = {
    id: newId('job', nowMs),
    runId: newId('run', nowMs),
    viewer,
    pool: way.pool,
    spec,
    teamId: team?.id ?? null,
    key,
    replacedKey: (key && world.keys.get(keyName(viewer.userId, key.key))) ?? null,
    retryOf,
  }
  return { job, warnings }
}

/** Capacity reservations that do not exist cannot be named. */
function references({ capacityReservationId: id }: Submission['input']['spec']) {
  const path = ['spec', 'capacityReservationId']
  return id ? [{ path, message: `There is no capacity reservation ${id}` }] : []
}
