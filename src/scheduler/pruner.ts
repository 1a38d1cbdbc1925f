import { deleteUnreadChanges } from '../domain/changes.ts'
import { forgetServers } from '../domain/conditions/server-report.ts'
import { forgetConditionEvents } from '../domain/conditions/stored-conditions.ts'
import type { Domain } from '../domain/domain.ts'
import { visitFinished } from '../domain/jobs/finished.ts'
import {
  expireDeletions,
  expireEvents,
  expireJobs,
  expireLanes,
  expireSlots,
  readJobsRunningSince,
} from '../domain/jobs/retention.ts'
import { sweepUsageLedger } from '../domain/limits/quota-usage.ts'
import { forgetQuestions } from '../domain/queue/questions.ts'
import { foldTally } from '../domain/queue/tally.ts'
import { forgetRunSecrets } from '../domain/secrets/run-secrets.ts'
import { findRunViolations } from '../domain/selfcheck/selfcheck.ts'
import { sweepSnapshots } from '../domain/snapshots/removal.ts'
import { removeExpiredKeys } from '../domain/submission/keys.ts'
import { expireUse, mergeMinutes } from '../domain/usage/pool-use.ts'
import { removeSamples } from '../domain/usage/run-samples.ts'
import { expireLogs, findUnmergedLogs, mergeChunks } from '../logs/merge-chunks.ts'
import { readNow } from '../platform/database-time.ts'
import type { Log } from '../platform/log.ts'
import { createLoop, type Loop } from '../platform/loop.ts'

/** Merges the small chunks of finished logs, and removes expired rows. Safe in many processes at once. */
export interface Retention {
  /** null: jobs are kept forever. */
  jobsMs: number | null
  logsMs: number | null
  eventsMs: number | null
  usageMs: number | null
}

const pollMs = 60_000
const mergesPerPass = 100
/** A log that is not merged within this time after its end is never merged. */
const mergedWithinMs = 3_600_000
/** The last writes of a log may still be in flight for this long after its end. */
const logSettlesMs = 60_000
const loggedFindingsMax = 20

export const createPruner = (domain: Domain, retention: Retention): Loop =>
  createLoop({
    name: 'pruner',
    pollMs,
    clock: domain.clock,
    log: domain.log,
    runOnce: (signal) => pruneOnce(domain, retention, signal),
  })

export async function pruneOnce(domain: Domain, retention: Retention, signal?: AbortSignal): Promise<void> {
  const { jobsMs, logsMs, eventsMs, usageMs } = retention
  const now = await readNow(domain.db.sql)
  const ago = (ms: number) => new Date(now.getTime() - ms)
  const tasks: Task[] = [() => mergeLogs(domain, { from: ago(mergedWithinMs), until: ago(logSettlesMs) }, signal)]
  if (logsMs !== null) tasks.push(() => removeOldLogs(domain, ago(logsMs), signal))
  if (eventsMs !== null)
    tasks.push(
      () => expireEvents(domain, ago(eventsMs), signal),
      () => expireDeletions(domain, ago(eventsMs)),
    )
  if (jobsMs !== null) tasks.push(() => expireJobs(domain, ago(jobsMs)))
  if (usageMs !== null) tasks.push(() => expireUse(domain, ago(usageMs)))
  tasks.push(
    () => mergeMinutes(domain.db.sql),
    () => removeExpiredKeys(domain),
    () => sweepUsageLedger(domain),
    () => expireSlots(domain),
    () => sweepSnapshots(domain),
    () => forgetQuestions(domain),
    () => deleteUnreadChanges(domain, signal),
    () => expireLanes(domain),
    () => foldTally(domain.db),
    () => logFindings(domain),
    () => forgetServers(domain.db.sql),
    () => forgetRunSecrets(domain.db.sql),
    () => forgetConditionEvents(domain.db.sql),
  )
  await runAll(tasks, domain.log, signal)
}

type Task = () => Promise<unknown>

/** Runs all tasks; throws the last failure and logs the others. */
async function runAll(tasks: readonly Task[], log: Log, signal?: AbortSignal): Promise<void> {
  const failures: unknown[] = []
  for (const task of tasks) {
    if (signal?.aborted) break
    await task().catch((error: unknown) => failures.push(error))
  }
  const last = failures.pop()
  for (const err of failures) log.error({ err }, 'a task of a pass failed; the next pass tries it again')
  if (last !== undefined) throw last
}

async function logFindings({ db, log }: Domain): Promise<void> {
  for (const finding of (await findRunViolations(db.sql)).slice(0, loggedFindingsMax))
    log.error(finding, 'the self-check found a violation of an invariant')
}

async function mergeLogs(domain: Domain, finished: { from: Date; until: Date }, signal?: AbortSignal): Promise<void> {
  let merges = 0
  await visitFinished(domain, {
    task: 'MERGE_LOGS',
    ...finished,
    visit: async (jobIds) => {
      for (const runId of await findUnmergedLogs(domain.db.sql, jobIds)) {
        if (signal?.aborted) break
        await mergeChunks(domain.db, runId)
        merges++
      }
      return merges < mergesPerPass
    },
    signal,
  })
}

/** Removes logs and samples of jobs that finished before `before`, and output of running jobs that is older. */
async function removeOldLogs(domain: Domain, before: Date, signal?: AbortSignal): Promise<void> {
  const { sql } = domain.db
  await expireLogs(sql, await readJobsRunningSince(sql, before), before)
  await visitFinished(domain, {
    task: 'EXPIRE_LOGS',
    until: before,
    visit: async (jobIds) => {
      await expireLogs(sql, jobIds, null)
      await removeSamples(sql, jobIds)
      return true
    },
    signal,
  })
}
