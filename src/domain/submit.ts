import { inspect } from 'node:util'
import { createBatcher } from '../platform/batch.ts'
import { type Sql, sqlState, Unavailable, withRetry } from '../platform/tx.ts'
import { answeredByKey, type Decision, decideGroup, keysOf } from './accept.ts'
import type { Viewer } from './access.ts'
import { insertApprovals } from './approvals.ts'
import { audit } from './audit.ts'
import type { Domain } from './domain.ts'
import { Refusal } from './errors.ts'
import { behindGate, lockGate } from './gate.ts'
import { insertJobs, type NewJob } from './insert.ts'
import { forgetKeys, readKeys } from './keys.ts'
import { readSubmission, type Submission } from './submission.ts'

/**
 * Submission: checked against the input alone first, then in one SERIALIZABLE transaction. What arrives while a
 * transaction is under way goes into the next one together. A group reads what all its items need, decides item by item
 * in order of arrival, and writes once; an unforeseen SQL error splits the group in halves until the bad item is alone.
 * Nobody is answered before the commit.
 *
 * Processes take turns at the gate (gate.ts). Keys that are stored already are answered by a plain read before: what such a key
 * answers changes before its time is over only when its job is deleted, and then the transaction decides.
 */
export interface Submitted {
  jobId: string
  idempotentHit: boolean
  warnings: string[]
}

export type SubmitOutcome = Submitted | Refusal | Unavailable

const groupMax = 256
const triesMax = 8

/** One group per process and database: whoever submits through the same domain shares it. */
const groups = new WeakMap<Domain, (item: Submission) => Promise<SubmitOutcome>>()

/** One outcome per input, in order. Refusals are outcomes; anything else rejects. */
export function submitJobs(domain: Domain, viewer: Viewer, inputs: readonly unknown[]): Promise<SubmitOutcome[]> {
  return Promise.all(
    inputs.map((raw) => submitOne(domain, async () => readSubmission(viewer, raw, domain.clock.now()))),
  )
}

/** `read` makes the submission, or throws why it cannot be one. */
export async function submitOne(domain: Domain, read: () => Promise<Submission>): Promise<SubmitOutcome> {
  try {
    return await groupOf(domain)(await read())
  } catch (error) {
    if (error instanceof Refusal || error instanceof Unavailable) return error
    throw error
  }
}

function groupOf(domain: Domain) {
  const known = groups.get(domain)
  if (known) return known
  const group = createBatcher<Submission, SubmitOutcome>({
    max: groupMax,
    run: (items) => submitGroup(domain, items),
    mayBeOneItem: (error) => !(error instanceof Unavailable),
  })
  groups.set(domain, group)
  return group
}

async function submitGroup(domain: Domain, items: readonly Submission[]): Promise<SubmitOutcome[]> {
  const stored = await answerStored(domain, items)
  const open = items.filter((_, index) => !stored[index])
  const decided =
    open.length > 0 ? await behindGate(domain, (sql) => decideAndWrite(domain, sql, open), mayPassNow) : []
  if (decided.some((decision) => 'job' in decision)) for (const topic of ['event', 'queue']) domain.wakeups.poke(topic)
  const next = decided.values()
  return stored.map((answer) => outcomeOf(answer ?? next.next().value ?? missing()))
}

/** What keys that are stored already answer, without a transaction. */
async function answerStored(domain: Domain, items: readonly Submission[]): Promise<(Decision | undefined)[]> {
  const keys = await withRetry(triesMax, () => readKeys(domain.db.sql, keysOf(items)))
  return items.map((item) => answeredByKey(item, keys))
}

function missing(): never {
  throw new Error('A submission was left out')
}

export function outcomeOf(decision: Decision): SubmitOutcome {
  if ('refusal' in decision) return decision.refusal
  if ('hit' in decision) return { jobId: decision.hit, idempotentHit: true, warnings: [] }
  return { jobId: decision.job.id, idempotentHit: false, warnings: decision.warnings }
}

/**
 * Past the gate somebody stored the same key, which the next try reads and answers, or deleted the job that a retry
 * names, which the next try does without.
 */
function mayPassNow(error: unknown): boolean {
  const state = sqlState(error)
  const names = (constraint: string) => inspect(error, { depth: 8 }).includes(constraint)
  return (state === '23505' && names('idempotency_key_pkey')) || (state === '23503' && names('job_retry_of_id_fkey'))
}

/**
 * Decides a group and writes it, in the open transaction of the caller, who pokes `event` and `queue` after the commit.
 * In a SERIALIZABLE transaction it must be the first thing: a snapshot from before the gate would be an old one.
 */
export async function submitInTransaction(domain: Domain, sql: Sql, items: readonly Submission[]): Promise<Decision[]> {
  await lockGate(sql)
  return decideAndWrite(domain, sql, items)
}

async function decideAndWrite(domain: Domain, sql: Sql, items: readonly Submission[]): Promise<Decision[]> {
  const decided = await decideGroup(domain, sql, items)
  const jobs = decided.flatMap((decision) => ('job' in decision ? [decision.job] : []))
  await write(domain, sql, jobs)
  return decided
}

async function write({ clock }: Domain, sql: Sql, jobs: readonly NewJob[]): Promise<void> {
  const nowMs = clock.now()
  const replaced = jobs.flatMap(({ replacedKey }) => replacedKey ?? [])
  await forgetKeys(sql, replaced)
  await insertJobs(sql, jobs)
  const requests = jobs.flatMap(({ id, viewer, approval }) =>
    approval ? [{ jobId: id, requestedById: viewer.userId, need: approval }] : [],
  )
  await insertApprovals(sql, requests, nowMs)
  for (const [viewer, own] of Map.groupBy(jobs, (job) => job.viewer))
    await audit(
      sql,
      viewer,
      own.map(({ id, retryOf }) => ({
        action: retryOf ? 'job.retry' : 'job.submit',
        objectId: id,
        ...(retryOf && { detail: { retryOf } }),
      })),
      nowMs,
    )
}

/** What would become of a submission now, without writing anything. */
export async function previewSubmission(domain: Domain, item: Submission): Promise<Decision> {
  const decided = await domain.db.transaction((sql) => decideGroup(domain, sql, [item]))
  return decided[0] ?? missing()
}
