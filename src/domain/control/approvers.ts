import { demand, type UserLevel, userLevels, type Viewer } from '../access.ts'
import { ApprovalNotAllowed, Forbidden } from '../errors.ts'

/** Approvers have `job.approve` and the required level, and are not the user of the job, except in single-user mode. */

export interface Request {
  status: string
  requestedById: string
  requiredLevel: UserLevel
  requesterDisabled: boolean
}

export const mayDecide = (
  viewer: Viewer,
  { status, requestedById, requiredLevel }: Request,
  singleUser: boolean,
): boolean =>
  status === 'PENDING' &&
  viewer.permissions.has('job.approve') &&
  !isOwn(viewer, requestedById, singleUser) &&
  suffices(viewer.level, requiredLevel)

/** Throws Forbidden, or ApprovalNotAllowed for the viewer's own job. `requiredLevel` null: the job has no request. */
export function demandApprover(
  viewer: Viewer,
  { userId, requiredLevel }: { userId: string; requiredLevel: UserLevel | null },
  singleUser: boolean,
): void {
  demand(viewer, 'job.approve')
  if (isOwn(viewer, userId, singleUser)) throw new ApprovalNotAllowed()
  if (requiredLevel && !suffices(viewer.level, requiredLevel)) throw new Forbidden(`level:${requiredLevel}`)
}

const isOwn = (viewer: Viewer, userId: string, singleUser: boolean) => userId === viewer.userId && !singleUser

const suffices = (level: UserLevel, required: UserLevel): boolean =>
  userLevels.indexOf(level) >= userLevels.indexOf(required)
