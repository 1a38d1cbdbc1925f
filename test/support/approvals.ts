import type { Viewer } from '../../src/domain/access.ts'
import { type ApprovalNeed, makeNeedWithoutRule } from '../../src/domain/control/approval-rules.ts'
import { insertApprovals } from '../../src/domain/control/approvals.ts'
import type { TestDomain } from './domain.ts'

/** A submitted job that waits for approval, at version 2. */
export async function submitBlocked(
  { domain, submit }: TestDomain,
  viewer: Viewer,
  { spec = {}, ...need }: Partial<ApprovalNeed> & { spec?: Record<string, unknown> } = {},
): Promise<string> {
  const jobId = await submit(spec, viewer)
  await domain.db.transaction(async (sql) => {
    await sql.query('DELETE FROM queue_entry WHERE job_id = $1', [jobId])
    await sql.query("UPDATE job SET state = 'BLOCKED', queued_at = NULL, eligible_at = NULL WHERE id = $1", [jobId])
    await sql.query("UPDATE run SET state = 'BLOCKED' WHERE job_id = $1", [jobId])
    await sql.query("UPDATE event SET to_state = 'BLOCKED', psij_state = 'NEW' WHERE job_id = $1", [jobId])
    const request = { jobId, requestedById: viewer.userId, need: { ...makeNeedWithoutRule('Costs 60'), ...need } }
    await insertApprovals(sql, [request], { nowMs: domain.time.nowMs(), singleUser: domain.singleUser })
  })
  return jobId
}
