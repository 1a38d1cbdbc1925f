import { InvalidInput } from '../domain/errors.ts'
import { type Pattern, parseGlob, patternCharactersMax } from '../domain/pattern.ts'
import { isFinal, type JobState, type StateCategory, stateCategory } from '../domain/state.ts'
import type { FeedEvent } from './event.ts'
import type { JobFacts, StateMoment } from './facts.ts'

/** Fields are joined by AND, entries of a list by OR, labels by AND; an absent field admits all. */
export interface JobFilter {
  ids?: readonly string[] | null | undefined
  states?: readonly JobState[] | null | undefined
  stateCategories?: readonly StateCategory[] | null | undefined
  /** Glob: `*` any characters, `?` one. */
  name?: string | null | undefined
  labels?: readonly { key: string; value?: string | null | undefined }[] | null | undefined
  users?: readonly string[] | null | undefined
  teams?: readonly string[] | null | undefined
  accounts?: readonly string[] | null | undefined
  projects?: readonly string[] | null | undefined
  queues?: readonly string[] | null | undefined
  pools?: readonly string[] | null | undefined
  executors?: readonly string[] | null | undefined
  createdAfter?: Date | null | undefined
  createdBefore?: Date | null | undefined
  finishedAfter?: Date | null | undefined
  finishedBefore?: Date | null | undefined
}

/** true: the event changes the state. Others (priority, artifact, late report) do not. */
export const isMove = (event: FeedEvent): boolean => event.to !== null && event.to !== event.from

export const toMoment = (state: JobState, at: Date): StateMoment => ({ state, finishedAt: isFinal(state) ? at : null })

export function nameGlob(glob: string): Pattern {
  if (glob.length > patternCharactersMax) {
    const message = `Must have at most ${patternCharactersMax} characters, not ${glob.length}`
    throw new InvalidInput([{ path: ['filter', 'name'], message }])
  }
  return parseGlob(glob)
}

export interface CompiledFilter {
  admitsJob(facts: JobFacts): boolean
  admitsMoment(moment: StateMoment): boolean
  readonly asksState: boolean
}

const factsOfLists = [
  ['users', 'userId'],
  ['teams', 'team'],
  ['accounts', 'account'],
  ['projects', 'project'],
  ['queues', 'queue'],
  ['pools', 'pool'],
  ['executors', 'executor'],
] as const

export function compileFilter(filter: JobFilter): CompiledFilter {
  const { ids, states, stateCategories, name, labels, createdAfter, createdBefore, finishedAfter, finishedBefore } =
    filter
  const nameMatches = name == null ? null : nameGlob(name)
  const lists = factsOfLists.flatMap(([list, fact]) => {
    const values = filter[list]
    return values == null ? [] : [{ fact, values: new Set<string | null>(values) }]
  })
  return {
    admitsJob: (facts) =>
      (ids == null || ids.includes(facts.id)) &&
      (nameMatches === null || (facts.name !== null && nameMatches.matches(facts.name))) &&
      lists.every(({ fact, values }) => values.has(facts[fact])) &&
      (labels ?? []).every(({ key, value }) =>
        value == null ? Object.hasOwn(facts.labels, key) : facts.labels[key] === value,
      ) &&
      isWithin(facts.createdAt, createdAfter, createdBefore),
    admitsMoment: ({ state, finishedAt }) =>
      (states == null || states.includes(state)) &&
      (stateCategories == null || stateCategories.includes(stateCategory[state])) &&
      isWithin(finishedAt, finishedAfter, finishedBefore),
    asksState: [states, stateCategories, finishedAfter, finishedBefore].some((field) => field != null),
  }
}

function isWithin(at: Date | null, after: Date | null | undefined, before: Date | null | undefined): boolean {
  if (after == null && before == null) return true
  return at !== null && (after == null || at > after) && (before == null || at < before)
}
