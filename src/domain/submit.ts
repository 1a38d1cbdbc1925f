import { createBatcher } from '../platform/batch.ts'
import { newId } from '../platform/ids.ts'
import { prismaSql, type Sql, Unavailable, withRetry } from '../platform/tx.ts'
import { demand, type Viewer } from './access.ts'
import { dependencyViolations, type NamedJob, readNamedJobs } from './dependencies.ts'
import type { Domain } from './domain.ts'
import { InvalidInput, Refusal } from './errors.ts'
import { parseSubmission, type SubmissionInput } from './input.ts'
import { insertJobs, type NewJob } from './insert.ts'
import { normalise } from './normalise.ts'
import { type Door, readDoors, route } from './routing.ts'
import { brokenRules } from './rules.ts'
import { shapeOf, tooLarge } from './shape.ts'

/**
 * Submission: checked against the input alone first, then in one SERIALIZABLE transaction. What arrives while a
 * transaction is under way goes into the next one together. A group reads what all its items need, decides item by item
 * in order of arrival, and writes once; an unforeseen SQL error splits the group in halves until the bad item is alone.
 * Nobody is answered before the commit.
 *
 * The first statement locks the empty table submission_gate: processes take turns instead of aborting each other, and
 * SERIALIZABLE stays as the proof.
 */
export interface Submitted {
  jobId: string
  idempotentHit: boolean
  warnings: string[]
}

export type SubmitOutcome = Submitted | Refusal

interface Item {
  viewer: Viewer
  input: SubmissionInput
}

const groupMax = 256
const triesMax = 8
const transactionWaitMs = 5_000
const transactionMsMax = 10_000

/** One group per process and database: whoever submits through the same domain shares it. */
const groups = new WeakMap<Domain, (item: Item) => Promise<SubmitOutcome>>()

/** One outcome per input, in order. Refusals are outcomes; anything else rejects. */
export function submitJobs(domain: Domain, viewer: Viewer, inputs: readonly unknown[]): Promise<SubmitOutcome[]> {
  return Promise.all(inputs.map((input) => submitOne(domain, viewer, input)))
}

async function submitOne(domain: Domain, viewer: Viewer, raw: unknown): Promise<SubmitOutcome> {
  try {
    demand(viewer, 'job.submit')
    const input = parseSubmission(raw)
    const violations = brokenRules(input.spec, domain.clock.now())
    if (violations.length > 0) throw new InvalidInput(violations)
    return await groupOf(domain)({ viewer, input })
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}

function groupOf(domain: Domain) {
  const known = groups.get(domain)
  if (known) return known
  const group = createBatcher<Item, SubmitOutcome>({
    max: groupMax,
    run: (items) => submitGroup(domain, items),
    mayBeOneItem: (error) => !(error instanceof Unavailable),
  })
  groups.set(domain, group)
  return group
}

async function submitGroup(domain: Domain, items: readonly Item[]): Promise<SubmitOutcome[]> {
  const outcomes = await withRetry(triesMax, () => writeGroup(domain, items))
  domain.wakeups.poke('event')
  domain.wakeups.poke('queue')
  return outcomes
}

function writeGroup(domain: Domain, items: readonly Item[]): Promise<SubmitOutcome[]> {
  return domain.db.prisma.$transaction(
    async (tx) => {
      const sql = prismaSql(tx)
      await tx.$executeRawUnsafe('LOCK TABLE submission_gate IN EXCLUSIVE MODE')
      const world = await readWorld(sql, items)
      const decided = items.map((item) => decide(item, world, domain.clock.now()))
      await insertJobs(
        sql,
        decided.flatMap((one) => ('job' in one ? [one.job] : [])),
      )
      return decided.map((one) => ('job' in one ? one.submitted : one.refusal))
    },
    { isolationLevel: 'Serializable', maxWait: transactionWaitMs, timeout: transactionMsMax },
  )
}

interface World {
  doors: Door[]
  named: ReadonlyMap<string, NamedJob>
}

async function readWorld(sql: Sql, items: readonly Item[]): Promise<World> {
  const ids = items.flatMap(({ input }) => (input.spec.dependsOn ?? []).map(({ jobId }) => jobId))
  return { doors: await readDoors(sql), named: await readNamedJobs(sql, ids) }
}

function decide(item: Item, world: World, nowMs: number): { job: NewJob; submitted: Submitted } | { refusal: Refusal } {
  try {
    return accept(item, world, nowMs)
  } catch (error) {
    if (error instanceof Refusal) return { refusal: error }
    throw error
  }
}

function accept({ viewer, input }: Item, world: World, nowMs: number) {
  const way = route(input.spec, world.doors)
  const account = accountOf(input, viewer)
  const violations = [...references(input), ...dependencyViolations(input.spec, world.named, viewer)]
  if (violations.length > 0) throw new InvalidInput(violations)
  const { spec, warnings } = normalise(input.spec, way, account)
  const oversized = tooLarge(shapeOf(spec.resources))
  if (oversized.length > 0) throw new InvalidInput(oversized)
  const job: NewJob = { id: newId('job', nowMs), runId: newId('run', nowMs), viewer, pool: way.pool, spec }
  return { job, submitted: { jobId: job.id, idempotentHit: false, warnings } }
}

/** Without a team the account is the user's own branch; only an ADMIN may charge another. */
function accountOf({ spec }: SubmissionInput, viewer: Viewer): string {
  const own = `users.${viewer.userName}`
  const asked = spec.account ?? own
  if (viewer.level === 'ADMIN' || asked === own || asked.startsWith(`${own}.`)) return asked
  throw new InvalidInput([{ path: ['spec', 'account'], message: `Must be ${own} or below it` }])
}

/** Teams and capacity reservations that do not exist cannot be named. */
function references({ spec }: SubmissionInput) {
  return [
    ...(spec.team
      ? [{ path: ['spec', 'team'], message: `There is no team ${spec.team} that you are a member of` }]
      : []),
    ...(spec.capacityReservationId
      ? [
          {
            path: ['spec', 'capacityReservationId'],
            message: `There is no capacity reservation ${spec.capacityReservationId}`,
          },
        ]
      : []),
  ]
}
