import { Forbidden, jobNotFound } from './errors.ts'

/**
 * Permissions of a user: those of the level and of lower levels, plus `allow`, minus `deny`, within the scopes of the
 * token.
 */

export const userLevels = ['VIEWER', 'RESEARCHER', 'LEAD', 'ADMIN'] as const
export type UserLevel = (typeof userLevels)[number]

/** Scopes of tokens. Every other scope includes READ. */
export const tokenScopes = ['READ', 'SUBMIT', 'OPERATE', 'ADMIN', 'EXEC'] as const
export type TokenScope = (typeof tokenScopes)[number]

/** For each permission, the lowest level that has it and the scope that a token needs for it. */
const requirements = {
  'job.view.own': ['VIEWER', 'READ'],
  'view.write': ['VIEWER', 'SUBMIT'],
  'job.submit': ['RESEARCHER', 'SUBMIT'],
  'job.cancel.own': ['RESEARCHER', 'SUBMIT'],
  'job.delete.own': ['RESEARCHER', 'SUBMIT'],
  'job.exec.own': ['RESEARCHER', 'SUBMIT'],
  'token.own': ['RESEARCHER', 'ADMIN'],
  'secret.own': ['RESEARCHER', 'SUBMIT'],
  'job.view.all': ['LEAD', 'READ'],
  'job.cancel.team': ['LEAD', 'OPERATE'],
  'job.exec.team': ['LEAD', 'EXEC'],
  'job.approve': ['LEAD', 'OPERATE'],
  'job.priority': ['LEAD', 'OPERATE'],
  'secret.team': ['LEAD', 'OPERATE'],
  'audit.read': ['LEAD', 'READ'],
  'job.cancel.all': ['ADMIN', 'OPERATE'],
  'job.delete.all': ['ADMIN', 'ADMIN'],
  'job.exec.all': ['ADMIN', 'EXEC'],
  'pool.plan': ['ADMIN', 'OPERATE'],
  'limits.write': ['ADMIN', 'ADMIN'],
  'quota.write': ['ADMIN', 'ADMIN'],
  'rule.write': ['ADMIN', 'ADMIN'],
  'user.write': ['ADMIN', 'ADMIN'],
  'token.any': ['ADMIN', 'ADMIN'],
  'node.write': ['ADMIN', 'ADMIN'],
  'reservation.write': ['ADMIN', 'ADMIN'],
  'webhook.write': ['ADMIN', 'ADMIN'],
} as const satisfies Record<string, readonly [UserLevel, TokenScope]>

export type Permission = keyof typeof requirements
const allPermissions = Object.keys(requirements) as Permission[]
export const permissionsMax = allPermissions.length
export const isPermission = (text: string): text is Permission => Object.hasOwn(requirements, text)

export const listPermissions = (level: UserLevel): ReadonlySet<Permission> =>
  new Set(allPermissions.filter((each) => userLevels.indexOf(requirements[each][0]) <= userLevels.indexOf(level)))

/** Priority of a job, by the level of its user; fixed at submission. */
export const basePriority = { VIEWER: 0, RESEARCHER: 10, LEAD: 20, ADMIN: 30 } as const satisfies Record<
  UserLevel,
  number
>

export interface Person {
  readonly id: string
  readonly name: string
  readonly level: UserLevel
  readonly allow: readonly string[]
  readonly deny: readonly string[]
}

export interface Entry {
  readonly scopes?: readonly TokenScope[]
  readonly ip?: string | null
  readonly requestId?: string | null
  /** Prefix of the token. */
  readonly token?: string | null
  readonly expiresAtMs?: number | null
}

/** The run that sends the request, identified by the token in its environment. */
export interface RunIdentity {
  readonly runId: string
  readonly jobId: string
  readonly number: number
}

export interface Viewer {
  readonly userId: string
  readonly userName: string
  readonly level: UserLevel
  readonly permissions: ReadonlySet<Permission>
  /** Permissions with any token. Reads check these, because every token includes READ. */
  readonly granted: ReadonlySet<Permission>
  readonly scopes: readonly TokenScope[]
  /** Where the request came from, for the audit log. */
  readonly ip: string | null
  readonly requestId: string | null
  /** Prefix of the token; null: the mode needs no token, or the person logged in by an OpenID provider. */
  readonly token: string | null
  /** When the credential of the request expires; null: never. */
  readonly expiresAtMs: number | null
  /** A run may only report on itself (domain/inside); null: a person. */
  readonly run: RunIdentity | null
}

export function createViewer(person: Person, entry: Entry = {}): Viewer {
  const { scopes = tokenScopes, ip = null, requestId = null, token = null, expiresAtMs = null } = entry
  const { id, name, level, allow, deny } = person
  const granted = new Set(
    [...listPermissions(level), ...allow.filter(isPermission)].filter((each) => !deny.includes(each)),
  )
  const inScope = (scope: TokenScope) => scope === 'READ' || scopes.includes(scope)
  const permissions = new Set([...granted].filter((each) => inScope(requirements[each][1])))
  return {
    userId: id,
    userName: name,
    level,
    permissions,
    granted,
    scopes,
    ip,
    requestId,
    token,
    expiresAtMs,
    run: null,
  }
}

/** The viewer of a request without credentials: may read only the data of the log-in page. */
export const anonymous: Viewer = {
  userId: '',
  userName: 'anonymous',
  level: 'VIEWER',
  permissions: new Set(),
  granted: new Set(),
  scopes: [],
  ip: null,
  requestId: null,
  token: null,
  expiresAtMs: null,
  run: null,
}

/** Throws Forbidden with the permission that the person lacks, or else with the scope that the token lacks. */
export function demand(viewer: Viewer, permission: Permission): void {
  if (viewer.permissions.has(permission)) return
  throw new Forbidden(viewer.granted.has(permission) ? `scope:${requirements[permission][1]}` : permission)
}

export function demandToRead(viewer: Viewer, permission: Permission): void {
  if (!viewer.granted.has(permission)) throw new Forbidden(permission)
}

/** Throws Forbidden if `person` has a level or permission that the viewer lacks: no viewer may grant more than it has. */
export function demandAllPermissions(viewer: Viewer, person: Person): void {
  if (userLevels.indexOf(person.level) > userLevels.indexOf(viewer.level)) throw new Forbidden(`level:${person.level}`)
  for (const permission of createViewer(person).granted) demandToRead(viewer, permission)
}

/** For operations that give a person the permissions or the name of another person. */
export function demandAdmin(viewer: Viewer): void {
  if (viewer.level !== 'ADMIN') throw new Forbidden('level:ADMIN')
}

interface OwnedJob {
  id: string
  userId: string
  sharesTeam?: boolean
}

type JobVerb = 'cancel' | 'delete' | 'exec'

export const maySee = (viewer: Viewer, job: { userId: string }): boolean =>
  viewer.permissions.has('job.view.all') || (viewer.permissions.has('job.view.own') && job.userId === viewer.userId)

export const mayActOn = (
  { permissions, userId: viewerId }: Viewer,
  { userId, sharesTeam = false }: Omit<OwnedJob, 'id'>,
  verb: JobVerb,
): boolean =>
  permissions.has(`job.${verb}.all`) ||
  (userId === viewerId && permissions.has(`job.${verb}.own`)) ||
  (verb !== 'delete' && sharesTeam && permissions.has(`job.${verb}.team`))

/** Throws NotFound if the viewer may not see the job, and Forbidden if the viewer may see it but not act on it. */
export function demandMayActOn(viewer: Viewer, job: OwnedJob, verb: JobVerb): void {
  if (!maySee(viewer, job)) throw jobNotFound(job.id)
  if (mayActOn(viewer, job, verb)) return
  demand(viewer, job.userId === viewer.userId ? `job.${verb}.own` : `job.${verb}.all`)
}

/** SQL condition on the table alias: the viewer may see the job. `bind` registers a value and returns its placeholder. */
export function visibleTo(viewer: Viewer, alias: string, bind: (value: unknown) => string): string {
  if (viewer.permissions.has('job.view.all')) return 'TRUE'
  if (viewer.permissions.has('job.view.own')) return `${alias}.user_id = ${bind(viewer.userId)}`
  return 'FALSE'
}

/**
 * true: the viewer sees all jobs. Totals over all jobs reveal other accounts, limits and machines, so only these
 * viewers get them.
 */
export const seesAll = (viewer: Viewer): boolean => viewer.granted.has('job.view.all')

/**
 * true: the viewer sees all users and teams, because they own jobs that the viewer sees or decides about. Others see
 * only themselves.
 */
export const seesPeople = (viewer: Viewer): boolean => seesAll(viewer) || viewer.granted.has('user.write')

export function demandOwn(viewer: Viewer, userId: string, orElse: Permission): void {
  if (userId !== viewer.userId) demandToRead(viewer, orElse)
}
