import { InvalidArgumentError } from 'commander'
import type { UserLevel } from '../client/generated/graphql.ts'

/** Reads one of these words, in upper or lower case. */
export const readChoice =
  <Word extends string>(words: readonly Word[]) =>
  (given: string): Word => {
    const word = words.find((each) => each === given.toUpperCase().replaceAll('-', '_'))
    if (!word) throw new InvalidArgumentError(`Expected ${words.join(', ')}.`)
    return word
  }

/** Reads one more of them. */
export const readChoices =
  <Word extends string>(words: readonly Word[]) =>
  (given: string, before: Word[] = []): Word[] => [...before, readChoice(words)(given)]

export const levels = ['VIEWER', 'RESEARCHER', 'LEAD', 'ADMIN'] as const satisfies readonly UserLevel[]
