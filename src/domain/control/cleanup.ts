import { z } from 'zod'
import { readNow } from '../../platform/database-time.ts'
import { demand, type Viewer } from '../access.ts'
import { audit } from '../audit/audit.ts'
import type { Domain } from '../domain.ts'
import { jobsPerBatch, removeOldJobs } from '../jobs/retention.ts'
import { parseInput } from '../parse.ts'

/** Removes old final jobs on request, in batches with an audit entry each, at most 20 per call. */

const range = 'must be 1 … 365'
const cleanupInput = z.strictObject({ olderThanDays: z.int(range).min(1, range).max(365, range).nullish() })
const daysByDefault = 30
const batchesPerCall = 20
const dayMs = 86_400_000

export async function cleanupJobs(domain: Domain, viewer: Viewer, raw: unknown): Promise<{ deletedCount: number }> {
  demand(viewer, 'queue.cleanup')
  const { olderThanDays } = parseInput(cleanupInput, raw)
  const days = olderThanDays ?? daysByDefault
  const before = new Date((await readNow(domain.db.sql)).getTime() - days * dayMs)
  let deletedCount = 0
  for (let batch = 0; batch < batchesPerCall; batch++) {
    const count = await removeBatch(domain, viewer, { before, days })
    deletedCount += count
    if (count < jobsPerBatch) break
  }
  if (deletedCount > 0) for (const topic of ['event', 'log'] as const) domain.wakeups.poke(topic)
  return { deletedCount }
}

const removeBatch = ({ db, time }: Domain, viewer: Viewer, { before, days }: { before: Date; days: number }) =>
  db.transaction(async (sql) => {
    const deleted = await removeOldJobs(sql, before)
    const record = { action: 'queue.cleanup', objectId: null, detail: { olderThanDays: days, deleted } }
    if (deleted > 0) await audit(sql, viewer, [record], time.nowMs())
    return deleted
  })
