import type { JobCountBy } from '../../../generated/graphql.ts'
import { states } from '../../../parts/states.ts'
import { type FilterKey, filterKeys, quote } from './filter-text.ts'

/** A suggested completion of the filter text. */
export interface Suggestion {
  /** The whole filter text after the user accepts the suggestion. */
  text: string
  label: string
  help?: string | undefined
  count?: number | undefined
}

const keyHelp: Readonly<Record<FilterKey, string>> = {
  state: 'running, queued, failed, waiting, active, final …',
  user: 'me, or a name',
  team: 'the team of the user who submitted it',
  pool: 'the pool of the job',
  queue: 'the queue that it was submitted to',
  executor: 'what runs it',
  project: 'its project',
  account: 'the account that is charged',
  label: 'a key, or key=value',
  reason: 'why it is in its state',
  node: 'jobs that run on a node now',
  id: 'one or more ids',
  since: 'submitted after: 24h, 7d, a date',
  until: 'submitted before: 24h, 7d, a date',
  ended: 'ended after: 24h, 7d, a date',
}

/** The last term of a filter: the text before it, its key, and the last of its values. */
export interface LastTerm {
  before: string
  key: FilterKey | null
  value: string
}

export function readLastTerm(text: string): LastTerm {
  const [, before = '', last = ''] = text.match(/^(.*?)(\S*)$/s) ?? []
  const [, key, value = ''] = last.match(/^(\w+):(.*)$/) ?? []
  const known = filterKeys.find((each) => each === key?.toLowerCase())
  if (known === undefined) return { before, key: null, value: last }
  const comma = value.lastIndexOf(',') + 1
  return { before: `${before}${known}:${value.slice(0, comma)}`, key: known, value: value.slice(comma) }
}

export function suggestKeys({ before, key, value }: LastTerm): readonly Suggestion[] {
  if (key !== null) return []
  return filterKeys
    .filter((each) => each.startsWith(value.toLowerCase()))
    .map((each) => ({ text: `${before}${each}:`, label: `${each}:`, help: keyHelp[each] }))
}

const fixedValues: Partial<Readonly<Record<FilterKey, readonly string[]>>> = {
  state: [...states.map((state) => state.toLowerCase()), 'waiting', 'active', 'final'],
  since: ['1h', '24h', '7d', '30d'],
  until: ['1h', '24h', '7d', '30d'],
  ended: ['1h', '24h', '7d', '30d'],
}

export interface KnownValue {
  /** A suggested value. The key of a label ends in "=", because its value follows. */
  value: string
  count?: number | undefined
}

const shownMax = 12

/** Suggests values of the key that contain the typed text; values with the most jobs come first. */
export function suggestValues({ before, key, value }: LastTerm, known: readonly KnownValue[]): readonly Suggestion[] {
  if (key === null) return []
  const values = known.length > 0 ? known : (fixedValues[key] ?? []).map((each) => ({ value: each, count: undefined }))
  return values
    .filter((each) => each.value.toLowerCase().includes(value.toLowerCase()) && each.value !== value)
    .slice(0, shownMax)
    .map(({ value: each, count }) => ({
      text: `${before}${quote(each)}${key === 'label' && each.endsWith('=') ? '' : ' '}`,
      label: each,
      count,
    }))
}

/** Filter keys whose values the server can list with the number of their jobs. */
export const countedFields: Partial<Readonly<Record<FilterKey, JobCountBy>>> = {
  state: 'STATE',
  user: 'USER',
  team: 'TEAM',
  pool: 'POOL',
  queue: 'QUEUE',
  executor: 'EXECUTOR',
  project: 'PROJECT',
  account: 'ACCOUNT',
  reason: 'REASON',
}
