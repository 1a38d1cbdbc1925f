import { InvalidInput } from '../domain/errors.ts'
import { type Pattern, parseGlob, patternCharactersMax } from '../domain/pattern.ts'
import { isFinal, isHolding, type JobState, type StateCategory, stateCategory } from '../domain/state.ts'
import type { FeedEvent } from './event.ts'
import type { JobFacts, StateMoment, StoredReason } from './facts.ts'

/** Fields are joined by AND, entries of a list by OR, labels by AND. An absent field admits all jobs. */
export interface JobFilter {
  ids?: readonly string[] | null | undefined
  states?: readonly JobState[] | null | undefined
  stateCategories?: readonly StateCategory[] | null | undefined
  stateReasons?: readonly StoredReason[] | null | undefined
  /** A part of the name or of a label's value, or the beginning of the id. ASCII letters match in either case. */
  text?: string | null | undefined
  /** A glob: `*` matches any characters, `?` matches one. */
  name?: string | null | undefined
  labels?: readonly { key: string; value?: string | null | undefined }[] | null | undefined
  users?: readonly string[] | null | undefined
  teams?: readonly string[] | null | undefined
  accounts?: readonly string[] | null | undefined
  projects?: readonly string[] | null | undefined
  queues?: readonly string[] | null | undefined
  pools?: readonly string[] | null | undefined
  executors?: readonly string[] | null | undefined
  /** Name of a node on which the job holds resources. */
  node?: string | null | undefined
  createdAfter?: Date | null | undefined
  createdBefore?: Date | null | undefined
  startedAfter?: Date | null | undefined
  startedBefore?: Date | null | undefined
  finishedAfter?: Date | null | undefined
  finishedBefore?: Date | null | undefined
}

/** Whether the event changes the state. Other events (priority, artifact, late report) do not. */
export const isMove = (event: FeedEvent): boolean => event.to !== null && event.to !== event.from

export const toMoment = (state: JobState, reason: StoredReason | null, at: Date): StateMoment => ({
  state,
  reason: state === 'BLOCKED' ? 'APPROVAL_PENDING' : reason,
  finishedAt: isFinal(state) ? at : null,
})

export const foldCase = (text: string) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

export function checkText(text: string): string {
  if (text.length > patternCharactersMax) {
    const message = `Must have at most ${patternCharactersMax} characters, not ${text.length}`
    throw new InvalidInput([{ path: ['filter', 'text'], message }])
  }
  return foldCase(text)
}

export function parseNameGlob(glob: string): Pattern {
  if (glob.length > patternCharactersMax) {
    const message = `Must have at most ${patternCharactersMax} characters, not ${glob.length}`
    throw new InvalidInput([{ path: ['filter', 'name'], message }])
  }
  return parseGlob(glob)
}

export interface CompiledFilter {
  admitsJob(facts: JobFacts): boolean
  admitsMoment(moment: StateMoment): boolean
  /** A started job stays started, so its current row decides for all of its events. */
  admitsStart(startedAt: Date | null): boolean
  readonly asksState: boolean
  readonly asksReason: boolean
  /** Name of the node on which jobs must be ACTIVE (`readJobsOnNode`); null: the filter has no node. */
  readonly node: string | null
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
  const { ids, states, stateCategories, stateReasons, text, name, labels, node } = filter
  const { createdAfter, createdBefore, startedAfter, startedBefore, finishedAfter, finishedBefore } = filter
  const part = text == null ? null : checkText(text)
  const nameMatches = name == null ? null : parseNameGlob(name)
  const lists = factsOfLists.flatMap(([list, fact]) => {
    const values = filter[list]
    return values == null ? [] : [{ fact, values: new Set<string | null>(values) }]
  })
  return {
    admitsJob: (facts) =>
      (ids == null || ids.includes(facts.id)) &&
      (part === null || containsText(facts, part)) &&
      (nameMatches === null || (facts.name !== null && nameMatches.matches(facts.name))) &&
      lists.every(({ fact, values }) => values.has(facts[fact])) &&
      (labels ?? []).every(({ key, value }) =>
        value == null ? Object.hasOwn(facts.labels, key) : facts.labels[key] === value,
      ) &&
      isWithin(facts.createdAt, createdAfter, createdBefore),
    admitsMoment: ({ state, reason, finishedAt }) =>
      (states == null || states.includes(state)) &&
      (stateCategories == null || stateCategories.includes(stateCategory[state])) &&
      (node == null || isHolding(state)) &&
      (stateReasons == null || (reason !== null && stateReasons.includes(reason))) &&
      isWithin(finishedAt, finishedAfter, finishedBefore),
    admitsStart: (startedAt) => isWithin(startedAt, startedAfter, startedBefore),
    asksState: [states, stateCategories, stateReasons, node, finishedAfter, finishedBefore].some(
      (field) => field != null,
    ),
    asksReason: stateReasons != null,
    node: node ?? null,
  }
}

const containsText = ({ id, name, labels }: JobFacts, part: string) =>
  id.startsWith(part) ||
  [...(name === null ? [] : [name]), ...Object.values(labels)].some((each) => foldCase(each).includes(part))

function isWithin(at: Date | null, after: Date | null | undefined, before: Date | null | undefined): boolean {
  if (after == null && before == null) return true
  return at !== null && (after == null || at > after) && (before == null || at < before)
}
