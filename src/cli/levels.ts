import { InvalidArgumentError } from 'commander'
import type { UserLevel } from '../client/generated/graphql.ts'

/** An argument that is a level of users, in upper or lower case. */
export function readLevel(given: string): UserLevel {
  const levels = ['VIEWER', 'RESEARCHER', 'LEAD', 'ADMIN'] as const satisfies readonly UserLevel[]
  const level = levels.find((each) => each === given.toUpperCase())
  if (!level) throw new InvalidArgumentError(`Levels are ${levels.join(', ')}.`)
  return level
}
