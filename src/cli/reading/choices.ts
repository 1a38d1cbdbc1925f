import { InvalidArgumentError } from 'commander'
import { Executor, Permission, type UserLevel } from '../../client/generated/graphql.ts'

/** Returns a parser for an option that takes one of these words, in upper or lower case, with - or _. */
export const readChoice =
  <Word extends string>(words: readonly Word[]) =>
  (given: string): Word => {
    const word = words.find((each) => each === given.toUpperCase().replaceAll('-', '_'))
    if (!word) throw new InvalidArgumentError(`Expected ${words.join(', ')}.`)
    return word
  }

/** Like `readChoice`, for an option that can be repeated. */
export const readChoices =
  <Word extends string>(words: readonly Word[]) =>
  (given: string, before: Word[] = []): Word[] => [...before, readChoice(words)(given)]

export const levels = ['VIEWER', 'RESEARCHER', 'LEAD', 'ADMIN'] as const satisfies readonly UserLevel[]

export const readExecutorChoice = readChoice(Object.values(Executor))

export const readExecutorChoices = readChoices(Object.values(Executor))

/** JOB_VIEW_OWN → job.view.own. */
export const formatPermission = (permission: Permission): string => permission.toLowerCase().replaceAll('_', '.')

/** Adds a permission to those of earlier options. */
export function readPermissions(given: string, before: Permission[] = []): Permission[] {
  const permissions = Object.values(Permission)
  const permission = permissions.find((each) => formatPermission(each) === given.toLowerCase())
  if (!permission) throw new InvalidArgumentError(`Expected ${permissions.map(formatPermission).join(', ')}.`)
  return [...before, permission]
}
