import { InvalidArgumentError } from 'commander'
import type { UserLevel } from '../client/generated/graphql.ts'

/** Reads a user level in upper or lower case. */
export function readLevel(given: string): UserLevel {
  const levels = ['VIEWER', 'RESEARCHER', 'LEAD', 'ADMIN'] as const satisfies readonly UserLevel[]
  const level = levels.find((each) => each === given.toUpperCase())
  if (!level) throw new InvalidArgumentError(`Expected ${levels.join(', ')}.`)
  return level
}
