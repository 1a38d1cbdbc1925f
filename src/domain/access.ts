import { Forbidden, jobNotFound } from './errors.ts'

/** Who may do what. Levels are a ladder; each adds to the one below. */
export type UserLevel = 'VIEWER' | 'RESEARCHER' | 'LEAD' | 'ADMIN'

const added = {
  VIEWER: ['job.view.own'],
  RESEARCHER: ['job.submit', 'job.cancel.own', 'job.delete.own', 'token.own'],
  LEAD: ['job.view.all', 'job.approve', 'job.priority', 'audit.read'],
  ADMIN: [
    'job.cancel.all',
    'job.delete.all',
    'queue.process',
    'queue.cleanup',
    'limits.write',
    'quota.write',
    'rule.write',
    'user.write',
    'token.any',
    'node.write',
    'reservation.write',
  ],
} as const satisfies Record<UserLevel, readonly string[]>

export type Permission = (typeof added)[UserLevel][number]

const ladder = ['VIEWER', 'RESEARCHER', 'LEAD', 'ADMIN'] as const satisfies readonly UserLevel[]

export const permissionsOf = (level: UserLevel): ReadonlySet<Permission> =>
  new Set(ladder.slice(0, ladder.indexOf(level) + 1).flatMap((step): readonly Permission[] => added[step]))

/** Priority of a job by the level of its user, fixed at submission. */
export const basePriority = { VIEWER: 0, RESEARCHER: 10, LEAD: 20, ADMIN: 30 } as const satisfies Record<
  UserLevel,
  number
>

/** Who asks. Made once per request or connection; the permissions are final. */
export interface Viewer {
  readonly userId: string
  readonly userName: string
  readonly level: UserLevel
  readonly permissions: ReadonlySet<Permission>
  /** Where the request came from, for the audit log. */
  readonly ip?: string | null
  /** Prefix of the token that was used. */
  readonly token?: string | null
}

export function demand(viewer: Viewer, permission: Permission): void {
  if (!viewer.permissions.has(permission)) throw new Forbidden(permission)
}

interface OwnedJob {
  id: string
  userId: string
}

export const maySee = (viewer: Viewer, job: { userId: string }): boolean =>
  viewer.permissions.has('job.view.all') || (viewer.permissions.has('job.view.own') && job.userId === viewer.userId)

/** `own` suffices for one's own jobs, `all` is needed for others'; a job that may not be seen is not found. */
export function demandOver(viewer: Viewer, job: OwnedJob, verb: 'cancel' | 'delete'): void {
  if (!maySee(viewer, job)) throw jobNotFound(job.id)
  if (viewer.permissions.has(`job.${verb}.all`)) return
  demand(viewer, job.userId === viewer.userId ? `job.${verb}.own` : `job.${verb}.all`)
}

/**
 * The condition that every read of jobs carries, on the table alias `alias`. `bind` takes a value and answers its
 * placeholder.
 */
export function visibleTo(viewer: Viewer, alias: string, bind: (value: unknown) => string): string {
  if (viewer.permissions.has('job.view.all')) return 'TRUE'
  if (viewer.permissions.has('job.view.own')) return `${alias}.user_id = ${bind(viewer.userId)}`
  return 'FALSE'
}
