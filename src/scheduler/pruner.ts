import { forgetUnheard } from '../domain/changes.ts'
import type { Domain } from '../domain/domain.ts'
import { expireDeletions, expireEvents, expireJobs, expireLanes, expireSlots } from '../domain/jobs/retention.ts'
import { sweepLedger } from '../domain/limits/quota-usage.ts'
import { forgetQuestions } from '../domain/queue/questions.ts'
import { foldTally } from '../domain/queue/tally.ts'
import { findingsOfRuns } from '../domain/selfcheck/selfcheck.ts'
import { sweepKeys } from '../domain/submission/keys.ts'
import { expireLogs, mergeChunks, unmergedLogs } from '../logs/keep.ts'
import { readNow } from '../platform/database-time.ts'
import { createLoop, type Loop } from '../platform/loop.ts'

/**
 * Merges the small chunks of finished logs, and removes what is older than its retention. Safe in many processes at
 * once.
 */
export interface Retention {
  /** null: for ever. */
  jobsMs: number | null
  logsMs: number | null
  eventsMs: number | null
}

const pollMs = 60_000
const mergesPerPass = 100
const findingsTold = 20

export const createPruner = (domain: Domain, retention: Retention): Loop =>
  createLoop({
    name: 'pruner',
    pollMs,
    clock: domain.clock,
    log: domain.log,
    runOnce: (signal) => pruneOnce(domain, retention, signal),
  })

async function pruneOnce(domain: Domain, { jobsMs, logsMs, eventsMs }: Retention, signal?: AbortSignal): Promise<void> {
  const now = await readNow(domain.db.sql)
  const ago = (ms: number) => new Date(now.getTime() - ms)
  for (const runId of await unmergedLogs(domain.db.sql, mergesPerPass)) {
    if (signal?.aborted) return
    await mergeChunks(domain.db, runId)
  }
  if (logsMs !== null) await expireLogs(domain.db.sql, ago(logsMs))
  if (eventsMs !== null) {
    await expireEvents(domain, ago(eventsMs))
    await expireDeletions(domain, ago(eventsMs))
  }
  if (jobsMs !== null) await expireJobs(domain, ago(jobsMs))
  await sweepKeys(domain)
  await sweepLedger(domain)
  await expireSlots(domain)
  await forgetQuestions(domain)
  await forgetUnheard(domain, signal)
  await expireLanes(domain)
  await foldTally(domain.db)
  for (const finding of (await findingsOfRuns(domain.db.sql)).slice(0, findingsTold))
    domain.log.error(finding, 'the self-check found a breach')
}
