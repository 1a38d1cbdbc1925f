import { expireApprovals } from '../domain/control/approvals.ts'
import type { Domain } from '../domain/domain.ts'
import { createLoop, type Loop } from '../platform/loop.ts'

/** Fails jobs whose approval request has expired, in a loop. Several processes may run the loop. */

const pollMs = 2_000

export const createApprovalExpiry = (domain: Domain): Loop =>
  createLoop({
    name: 'approval-expiry',
    pollMs,
    clock: domain.clock,
    log: domain.log,
    runOnce: () => expireApprovals(domain),
  })
