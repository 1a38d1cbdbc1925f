import { InvalidArgumentError } from 'commander'
import { Executor, Permission, type UserLevel } from '../../client/generated/graphql.ts'

/** Reads one of these words, ignoring case. */
export const readChoice =
  <Word extends string>(words: readonly Word[]) =>
  (given: string): Word => {
    const word = words.find((each) => each === given.toUpperCase().replaceAll('-', '_'))
    if (!word) throw new InvalidArgumentError(`Expected ${words.join(', ')}.`)
    return word
  }

/** Reads one of these words and adds it to those read before. */
export const readChoices =
  <Word extends string>(words: readonly Word[]) =>
  (given: string, before: Word[] = []): Word[] => [...before, readChoice(words)(given)]

export const levels = ['VIEWER', 'RESEARCHER', 'LEAD', 'ADMIN'] as const satisfies readonly UserLevel[]

export const readExecutorChoice = readChoice(Object.values(Executor))

export const readExecutorChoices = readChoices(Object.values(Executor))

/** JOB_VIEW_OWN is job.view.own. */
export const permissionName = (permission: Permission): string => permission.toLowerCase().replaceAll('_', '.')

/** Reads one more permission. */
export function readPermissions(given: string, before: Permission[] = []): Permission[] {
  const permissions = Object.values(Permission)
  const permission = permissions.find((each) => permissionName(each) === given.toLowerCase())
  if (!permission) throw new InvalidArgumentError(`Expected ${permissions.map(permissionName).join(', ')}.`)
  return [...before, permission]
}
