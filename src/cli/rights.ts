import { InvalidArgumentError } from 'commander'
import { Permission, type UserLevel } from '../client/generated/graphql.ts'

/** Reads a user level in upper or lower case. */
export function readLevel(given: string): UserLevel {
  const levels = ['VIEWER', 'RESEARCHER', 'LEAD', 'ADMIN'] as const satisfies readonly UserLevel[]
  const level = levels.find((each) => each === given.toUpperCase())
  if (!level) throw new InvalidArgumentError(`Expected ${levels.join(', ')}.`)
  return level
}

/** JOB_VIEW_OWN is job.view.own. */
export const permissionName = (permission: Permission): string => permission.toLowerCase().replaceAll('_', '.')

/** Reads permissions given one by one. */
export function readPermissions(given: string, before: Permission[] = []): Permission[] {
  const permissions = Object.values(Permission)
  const permission = permissions.find((each) => permissionName(each) === given.toLowerCase())
  if (!permission) throw new InvalidArgumentError(`Expected ${permissions.map(permissionName).join(', ')}.`)
  return [...before, permission]
}
