import { expireApprovals } from '../domain/control/approvals.ts'
import type { Domain } from '../domain/domain.ts'
import { createLoop, type Loop } from '../platform/loop.ts'

/** Runs `expireApprovals` in a loop: jobs whose approval request has expired fail. Several processes may run it. */

const pollMs = 2_000

export const createApprovalExpiry = (domain: Domain): Loop =>
  createLoop({
    name: 'approval-expiry',
    pollMs,
    clock: domain.clock,
    log: domain.log,
    runOnce: () => expireApprovals(domain),
  })
