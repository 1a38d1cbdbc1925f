import type { Permission, TokenScope, UserLevel } from '../generated/graphql.ts'

/** Levels in rising order. Each level includes the permissions of the levels before it. */
export const levels = ['VIEWER', 'RESEARCHER', 'LEAD', 'ADMIN'] as const satisfies readonly UserLevel[]
export const scopes = ['READ', 'SUBMIT', 'OPERATE', 'ADMIN', 'EXEC'] as const satisfies readonly TokenScope[]

interface Need {
  level: UserLevel
  scope: TokenScope
  /** Completes the sentence "You may not …". */
  text: string
}

const need = (level: UserLevel, scope: TokenScope, text: string): Need => ({ level, scope, text })

/** For each permission the lowest level that has it, and the scope that a token needs for it. */
export const needs: Readonly<Record<Permission, Need>> = {
  JOB_VIEW_OWN: need('VIEWER', 'READ', 'see own jobs'),
  VIEW_WRITE: need('VIEWER', 'SUBMIT', 'save views'),
  JOB_SUBMIT: need('RESEARCHER', 'SUBMIT', 'submit and retry jobs'),
  JOB_CANCEL_OWN: need('RESEARCHER', 'SUBMIT', 'cancel own jobs'),
  JOB_DELETE_OWN: need('RESEARCHER', 'SUBMIT', 'delete own jobs'),
  JOB_EXEC_OWN: need('RESEARCHER', 'SUBMIT', 'open sessions in own jobs'),
  TOKEN_OWN: need('RESEARCHER', 'ADMIN', 'manage own tokens'),
  SECRET_OWN: need('RESEARCHER', 'SUBMIT', 'set and delete own secrets'),
  JOB_VIEW_ALL: need('LEAD', 'READ', 'see the jobs of all users'),
  JOB_CANCEL_TEAM: need('LEAD', 'OPERATE', 'cancel jobs of own teams'),
  JOB_EXEC_TEAM: need('LEAD', 'EXEC', 'open sessions in jobs of own teams'),
  JOB_APPROVE: need('LEAD', 'OPERATE', 'decide on approvals'),
  JOB_PRIORITY: need('LEAD', 'OPERATE', 'set priorities'),
  SECRET_TEAM: need('LEAD', 'OPERATE', 'set and delete the secrets of teams'),
  AUDIT_READ: need('LEAD', 'READ', 'read the audit log'),
  JOB_CANCEL_ALL: need('ADMIN', 'OPERATE', 'cancel all jobs'),
  JOB_DELETE_ALL: need('ADMIN', 'ADMIN', 'delete all jobs'),
  JOB_EXEC_ALL: need('ADMIN', 'EXEC', 'open sessions in all jobs'),
  POOL_PLAN: need('ADMIN', 'OPERATE', 'run scheduling passes'),
  LIMITS_WRITE: need('ADMIN', 'ADMIN', 'change limits'),
  QUOTA_WRITE: need('ADMIN', 'ADMIN', 'change quotas'),
  RULE_WRITE: need('ADMIN', 'ADMIN', 'change approval rules'),
  USER_WRITE: need('ADMIN', 'ADMIN', 'manage users and teams'),
  TOKEN_ANY: need('ADMIN', 'ADMIN', 'manage the tokens of all users'),
  NODE_WRITE: need('ADMIN', 'ADMIN', 'add, change and delete nodes'),
  WEBHOOK_WRITE: need('ADMIN', 'ADMIN', 'see, test and enable webhooks'),
  RESERVATION_WRITE: need('ADMIN', 'ADMIN', 'create and delete capacity reservations'),
}

export const permissions = Object.keys(needs) as Permission[]

/** JOB_VIEW_ALL → `job.view.all`, as in the command line and the guides. */
export const formatPermission = (permission: Permission): string => permission.toLowerCase().replaceAll('_', '.')

export const includesLevel = (level: UserLevel, lower: UserLevel): boolean =>
  levels.indexOf(level) >= levels.indexOf(lower)

export interface Grants {
  level: UserLevel
  allow: readonly Permission[]
  deny: readonly Permission[]
}

/** Lists the permissions of `level` and of `allow`, without those of `deny`. */
export const listPermissions = ({ level, allow, deny }: Grants): Permission[] =>
  permissions.filter(
    (each) => (includesLevel(level, needs[each].level) || allow.includes(each)) && !deny.includes(each),
  )
