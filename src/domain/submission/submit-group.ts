import { setImmediate as otherTurn } from 'node:timers/promises'
import { createBatcher } from '../../platform/batch.ts'
import { mapInSlices } from '../../platform/slices.ts'
import {
  brokenConstraint,
  type Ending,
  readSqlState,
  type Sql,
  Unavailable,
  withDatabaseRetries,
} from '../../platform/tx.ts'
import type { Viewer } from '../access.ts'
import { auditAll } from '../audit/audit.ts'
import { insertApprovals } from '../control/approvals.ts'
import { type Domain, perDomain } from '../domain.ts'
import type { Refusal } from '../errors.ts'
import { getUsageCache } from '../limits/quota-usage-bound.ts'
import { endWithSubmissionsLocked, lockSubmissions } from '../submission-lock.ts'
import { listKeys, matchStoredKey, openGroup, type SubmissionVerdict } from './accept.ts'
import { insertJobs, type NewJob } from './insert.ts'
import { deleteExpiredKeys, readKeys } from './keys.ts'
import { type JobRow, readJob } from './stored-job.ts'
import { readSubmission, type Submission } from './submission.ts'

/**
 * Groups submissions: those that arrive during a transaction are decided in the next one. The SERIALIZABLE transaction
 * reads the facts of the group, decides in order of arrival, and writes once. After an unexpected SQL error the group
 * is split in halves until the bad item is alone. Each submission gets its response after the commit.
 *
 * A read before the transaction answers submissions whose keys are stored. If the job of such a key was deleted in
 * between, the submission is decided again.
 */

export interface Submitted {
  jobId: string
  job: JobRow
  idempotentHit: boolean
  warnings: string[]
}

export type SubmitOutcome = Submitted | Refusal | Unavailable

const groupMax = 512
/** Jobs per INSERT: PostgreSQL writes one part while the next is decided. */
const partMax = 128
const triesMax = 8

type SubmissionReader = () => Promise<Submission>

/** Reads all inputs before the first is submitted, so that they are decided together. */
export const readSubmissions = (
  domain: Domain,
  viewer: Viewer,
  inputs: readonly unknown[],
): Promise<SubmissionReader[]> =>
  mapInSlices(inputs, (raw) => {
    try {
      const submission = readSubmission(viewer, raw, domain.time.nowMs())
      return async () => submission
    } catch (error) {
      return () => Promise.reject(error)
    }
  })

export const submitOne = (domain: Domain, read: SubmissionReader): Promise<SubmitOutcome> =>
  read().then(getGroup(domain))

/** The group of this process and domain, in which submissions are collected. */
const getGroup = perDomain((domain) =>
  createBatcher<Submission, SubmitOutcome>({
    max: groupMax,
    run: (items) => submitGroup(domain, items),
    mayBeOneItem: (error) => !(error instanceof Unavailable),
  }),
)

const attemptsMax = 3

async function submitGroup(domain: Domain, items: readonly Submission[], look = 1): Promise<SubmitOutcome[]> {
  const decisions = await decideOnce(domain, items)
  const outcomes = await Promise.all(decisions.map((decision) => readOutcome(domain, decision)))
  const gone = items.filter((_, index) => outcomes[index] === null)
  if (gone.length === 0 || look === attemptsMax) return outcomes.map((outcome) => outcome ?? makeJobDeletedError())
  const next = (await submitGroup(domain, gone, look + 1)).values()
  return outcomes.map((outcome) => outcome ?? next.next().value ?? throwMissingOutcome())
}

export const makeJobDeletedError = () => new Unavailable('The job of this idempotency key was deleted meanwhile')

async function decideOnce(domain: Domain, items: readonly Submission[]): Promise<SubmissionVerdict[]> {
  // Looks up stored keys without a transaction.
  const keys = await withDatabaseRetries(triesMax, () => readKeys(domain.db.sql, listKeys(items)))
  const stored = items.map((item) => matchStoredKey(item, keys))
  const open = items.filter((_, index) => !stored[index])
  const decided =
    open.length > 0
      ? await endWithSubmissionsLocked(domain, (sql) => decideAndWrite(domain, sql, open), isRetryable)
      : []
  if (decided.some((decision) => 'job' in decision))
    for (const topic of ['event', 'queue'] as const) domain.wakeups.poke(topic)
  const next = decided.values()
  return stored.map((answer) => answer ?? next.next().value ?? throwMissingOutcome())
}

/** Never happens, because every submission has an outcome. */
export function throwMissingOutcome(): never {
  throw new Error('A submission has no outcome')
}

/** Converts a verdict to the outcome; null: the job of the key was deleted. */
export async function readOutcome(domain: Domain, decision: SubmissionVerdict): Promise<SubmitOutcome | null> {
  if ('refusal' in decision) return decision.refusal
  const isHit = 'hit' in decision
  const jobId = isHit ? decision.hit : decision.job.id
  const job = (isHit ? null : decision.stored) ?? (await readJob(domain, jobId))
  return job && { jobId, job, idempotentHit: isHit, warnings: isHit ? [] : decision.warnings }
}

/** true: a transaction without the submission lock stored the same key, or deleted the original of a retry. */
function isRetryable(error: unknown): boolean {
  const broken = `${readSqlState(error)} ${brokenConstraint(error)}`
  return broken === '23505 idempotency_key_pkey' || broken === '23503 job_retry_of_id_fkey'
}

/** Wake `event` and `queue` after the commit. In a SERIALIZABLE transaction, take the submission lock first. */
export async function submitInTransaction(
  domain: Domain,
  sql: Sql,
  items: readonly Submission[],
): Promise<SubmissionVerdict[]> {
  await lockSubmissions(sql)
  const { result, writes } = await decideAndWrite(domain, sql, items)
  await writes
  return result
}

async function decideAndWrite(
  domain: Domain,
  sql: Sql,
  items: readonly Submission[],
): Promise<Ending<SubmissionVerdict[]>> {
  const decideNext = await openGroup({ domain, sql, memory: getUsageCache(domain) }, items)
  const decided: SubmissionVerdict[] = []
  const writes: Promise<void>[] = []
  while (decided.length < items.length) {
    if (decided.length > 0) await otherTurn()
    const part = items.slice(decided.length, decided.length + partMax).map(decideNext)
    decided.push(...part)
    const stored = writePart(domain, sql, part)
    stored.catch(() => undefined) // If a later part fails, nothing awaits this promise.
    writes.push(stored)
  }
  return { result: decided, writes: Promise.all(writes) }
}

async function writePart(domain: Domain, sql: Sql, part: readonly SubmissionVerdict[]): Promise<void> {
  const jobs = part.flatMap((decision) => ('job' in decision ? [decision.job] : []))
  const stored = new Map((await writeJobs(domain, sql, jobs)).map((job) => [job.id, job]))
  for (const decision of part) if ('job' in decision) decision.stored = stored.get(decision.job.id)
}

async function writeJobs({ time, singleUser }: Domain, sql: Sql, jobs: readonly NewJob[]): Promise<JobRow[]> {
  const nowMs = time.nowMs()
  const replaced = jobs.flatMap(({ replacedKey }) => replacedKey ?? [])
  const requests = jobs.flatMap(({ id, viewer, approval }) =>
    approval ? [{ jobId: id, requestedById: viewer.userId, need: approval }] : [],
  )
  const [, stored] = await Promise.all([
    deleteExpiredKeys(sql, replaced),
    insertJobs(sql, jobs),
    insertApprovals(sql, requests, { nowMs, singleUser }),
    auditAll(sql, jobs.map(auditRecord), nowMs),
  ])
  return stored
}

const auditRecord = ({ viewer, id, retryOf }: NewJob) => ({
  viewer,
  action: retryOf ? 'job.retry' : 'job.submit',
  objectId: id,
  ...(retryOf && { detail: { retryOf } }),
})

export async function previewSubmission(domain: Domain, item: Submission): Promise<SubmissionVerdict> {
  const decide = await domain.db.transaction((sql) => openGroup({ domain, sql, memory: null }, [item]))
  return decide(item)
}
