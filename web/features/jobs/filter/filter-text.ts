import type { Executor, JobFilter, JobState, StateReason } from '../../../generated/graphql.ts'
import { stateGroups, states } from '../../../parts/states.ts'

export const filterKeys = [
  'state',
  'user',
  'team',
  'pool',
  'queue',
  'executor',
  'project',
  'account',
  'label',
  'reason',
  'node',
  'id',
  'since',
  'until',
  'ended',
] as const

export type FilterKey = (typeof filterKeys)[number]

/**
 * The filter of a list of jobs, in three forms: the search part of the URL, the text of the filter field
 * (`state:running,queued user:me label:sweep=lr`), and `JobFilter` of the API.
 */
export type FilterSearch = { [Key in FilterKey | 'text']?: string | undefined }

/** The search parameters of the job list. */
export interface JobsSearch extends FilterSearch {
  order?: string | undefined
  group?: string | undefined
  /** The id of the job in the side panel. */
  peek?: string | undefined
}

const isFilterKey = (key: string): key is FilterKey => (filterKeys as readonly string[]).includes(key)

const term = /(?:(\w+):)?(?:"((?:[^"\\]|\\.)*)"|(\S+))/g

/** Words without a key must be part of the job's name. The values of a repeated key are combined. */
export function parseFilter(text: string): FilterSearch {
  const found: Partial<Record<FilterKey | 'text', string>> = {}
  const add = (key: FilterKey | 'text', value: string, separator: string) => {
    found[key] = found[key] === undefined ? value : `${found[key]}${separator}${value}`
  }
  for (const [whole, key, quoted, bare] of text.matchAll(term)) {
    // Ignores a key without a value, such as "state:", which the user is still typing.
    if (key === undefined && filterKeys.some((each) => bare?.toLowerCase() === `${each}:`)) continue
    const value = quoted?.replace(/\\(.)/g, '$1') ?? bare ?? ''
    if (key !== undefined && isFilterKey(key.toLowerCase())) add(key.toLowerCase() as FilterKey, value, ',')
    else add('text', key === undefined ? value : whole, ' ')
  }
  return found
}

/** Quotes a value that has blanks or quotes. */
export const quote = (value: string) => (/[\s"]/.test(value) ? `"${value.replace(/["\\]/g, '\\$&')}"` : value)

export function formatFilter(search: FilterSearch): string {
  const terms = filterKeys.flatMap((key) => (search[key] ? [`${key}:${quote(search[key])}`] : []))
  return [...terms, ...(search.text ? [search.text] : [])].join(' ')
}

export interface FilterProblem {
  key: FilterKey
  message: string
}

export interface FilterContext {
  viewerId: string
  /** Ids of users and teams by their names. */
  users: ReadonlyMap<string, string>
  teams: ReadonlyMap<string, string>
  nowMs: number
}

const split = (value: string | undefined): string[] | undefined => {
  const parts = value?.split(',').filter(Boolean) ?? []
  return parts.length > 0 ? parts : undefined
}

/** Converts the search parameters to a `JobFilter`, and lists values that are not valid. */
export function toJobFilter(
  search: FilterSearch,
  context: FilterContext,
): { filter: JobFilter; problems: readonly FilterProblem[] } {
  const problems: FilterProblem[] = []
  const filter: JobFilter = {
    states: readStates(search.state, problems),
    users: readIds('user', search.user, new Map([...context.users, ['me', context.viewerId]]), problems),
    teams: readIds('team', search.team, context.teams, problems),
    pools: split(search.pool),
    queues: split(search.queue),
    executors: split(search.executor)?.map((executor) => executor.toUpperCase() as Executor),
    projects: split(search.project),
    accounts: split(search.account),
    ids: split(search.id),
    labels: split(search.label)?.map((label) => {
      const [key = '', ...value] = label.split('=')
      return value.length > 0 ? { key, value: value.join('=') } : { key }
    }),
    createdAfter: readMoment('since', search.since, context.nowMs, problems),
    createdBefore: readMoment('until', search.until, context.nowMs, problems),
    finishedAfter: readMoment('ended', search.ended, context.nowMs, problems),
    stateReasons: split(search.reason)?.map((reason) => reason.toUpperCase() as StateReason),
    node: search.node || undefined,
    text: search.text || undefined,
  }
  const given = Object.entries(filter).filter(([, value]) => value !== undefined)
  return { filter: Object.fromEntries(given), problems }
}

function readStates(value: string | undefined, problems: FilterProblem[]): JobState[] | undefined {
  const words = split(value)?.map((word) => word.toLowerCase())
  const found = words?.flatMap((word) => stateGroups[word] ?? states.filter((state) => state.toLowerCase() === word))
  const unknown =
    words?.filter((word) => !stateGroups[word] && !states.some((state) => state.toLowerCase() === word)) ?? []
  for (const word of unknown)
    problems.push({ key: 'state', message: `${word} is not a state: use ${states.join(', ').toLowerCase()}` })
  return found && found.length > 0 ? [...new Set(found)] : undefined
}

function readIds(
  key: 'user' | 'team',
  value: string | undefined,
  known: ReadonlyMap<string, string>,
  problems: FilterProblem[],
): string[] | undefined {
  const ids = split(value)?.flatMap((name) => {
    if (name.startsWith(`${key}_`)) return [name]
    const id = known.get(name)
    if (id === undefined) problems.push({ key, message: `No ${key} has the name ${name}` })
    return id ?? []
  })
  return ids && ids.length > 0 ? ids : undefined
}

const units: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/** Reads "24h" or "7d" as a time before now, and other values as dates; null: the value is neither. */
export function readTime(value: string, nowMs: number): string | null {
  const [, count, unit = ''] = value.match(/^(\d+)([mhdw])$/) ?? []
  // Rounds to minutes, because each change of the filter makes a new list.
  const backMs = count === undefined ? Number.NaN : Number(count) * (units[unit] ?? 0)
  const atMs = Number.isNaN(backMs) ? Date.parse(value) : Math.floor((nowMs - backMs) / 60_000) * 60_000
  return Number.isNaN(atMs) ? null : new Date(atMs).toISOString()
}

function readMoment(
  key: 'since' | 'until' | 'ended',
  value: string | undefined,
  nowMs: number,
  problems: FilterProblem[],
): string | undefined {
  if (value === undefined || value === '') return undefined
  const time = readTime(value, nowMs)
  if (time === null) problems.push({ key, message: `${value} is not a time: write 24h, 7d or 2026-11-24` })
  return time ?? undefined
}
