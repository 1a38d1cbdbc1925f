import { forgetUnheard } from '../domain/changes.ts'
import type { Domain } from '../domain/domain.ts'
import { sweepKeys } from '../domain/keys.ts'
import { forgetQuestions } from '../domain/questions.ts'
import { expireEvents, expireJobs, expireLanes, expireSlots, unmergedLogs } from '../domain/retention.ts'
import { findingsOfRuns } from '../domain/selfcheck.ts'
import { foldTally } from '../domain/tally.ts'
import { sweepLedger } from '../domain/usage.ts'
import { expireLogs, mergeChunks } from '../logs/keep.ts'
import { createLoop, type Loop } from '../platform/loop.ts'

/** Keeps house: merges the small chunks of finished logs and removes what retention and its own time say. Safe in many processes at once. */
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
  const [row] = await domain.db.sql.query<{ now: Date }>('SELECT berth_now() AS now')
  const ago = (ms: number) => new Date((row?.now.getTime() ?? 0) - ms)
  for (const runId of await unmergedLogs(domain, mergesPerPass)) {
    if (signal?.aborted) return
    await mergeChunks(domain.db, runId)
  }
  if (logsMs !== null) await expireLogs(domain.db.sql, ago(logsMs))
  if (eventsMs !== null) await expireEvents(domain, ago(eventsMs))
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
