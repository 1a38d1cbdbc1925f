import { demand, type UserLevel, userLevels, type Viewer } from '../access.ts'
import { ApprovalNotAllowed, Forbidden } from '../errors.ts'
import { isPendingSql } from './approvals.ts'

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

/** SQL condition on the request `alias`: `mayDecide` is true. */
export function makeDecidableSql(
  viewer: Viewer,
  alias: string,
  { bind, singleUser }: { bind: (value: unknown) => string; singleUser: boolean },
): string {
  if (!viewer.permissions.has('job.approve')) return 'FALSE'
  const levels = userLevels.filter((level) => suffices(viewer.level, level))
  const others = singleUser ? 'TRUE' : `${alias}.requested_by <> ${bind(viewer.userId)}`
  return `${isPendingSql(alias)} AND ${others} AND ${alias}.required_level = ANY(${bind(levels)}::text[]::user_level[])`
}

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
