import { labelsMax } from '../../domain/input.ts'
import { holdingSql, isFinal, type JobState as JobStateName, jobStates, stateCategory } from '../../domain/state.ts'
import { type JobFilter, nameGlob } from '../../feed/filter.ts'
import { capList } from '../admission/argument-bounds.ts'
import { limits } from '../caller-limits.ts'
import type { Bind } from '../rows/keyset.ts'
import type { JobOrderField } from '../rows/listings.ts'
import { builder } from './builder.ts'
import { JobState, StateCategory } from './enums.ts'

const LabelFilter = builder.inputType('LabelFilter', {
  description: 'A label that jobs must have.',
  fields: (t) => ({
    key: t.string({ required: true, description: 'Key of the label.' }),
    value: t.string({ description: 'Value of the label; default: every value.' }),
  }),
})

export const JobFilterInput = builder.inputType('JobFilter', {
  description: 'Filter for jobs. A job must match all fields, one entry of each list, and all labels.',
  fields: (t) => ({
    ids: t.idList(capList(limits.filterIdsMax, 'Jobs with these ids')),
    states: t.field({ type: [JobState], ...capList(jobStates.length, 'Jobs in one of these states') }),
    stateCategories: t.field({
      type: [StateCategory],
      ...capList(jobStates.length, 'Jobs in a state of one of these categories'),
    }),
    name: t.string({
      description: 'Glob on the job name: * matches any characters, ? matches one; at most 255 characters.',
    }),
    labels: t.field({ type: [LabelFilter], ...capList(labelsMax, 'Jobs with all of these labels') }),
    user: t.id({ description: 'Jobs submitted by this user.' }),
    team: t.id({ description: 'Jobs of this team.' }),
    account: t.string({ description: 'Jobs charged to this account.' }),
    project: t.string({ description: 'Jobs of this project.' }),
    queue: t.string({ description: 'Jobs submitted to this submission queue.' }),
    pool: t.string({ description: 'Jobs of this pool.' }),
    executor: t.string({ description: 'Jobs of this executor.' }),
    createdAfter: t.field({ type: 'DateTime', description: 'Jobs submitted after this time.' }),
    createdBefore: t.field({ type: 'DateTime', description: 'Jobs submitted before this time.' }),
    finishedAfter: t.field({ type: 'DateTime', description: 'Jobs that became final after this time.' }),
    finishedBefore: t.field({ type: 'DateTime', description: 'Jobs that became final before this time.' }),
  }),
})

/** The index of names finds a name and the beginning of names; any other glob is compared with all of them. */
export const isScan = (filter: { name?: string | null | undefined } | null | undefined): boolean =>
  filter?.name != null && !/^[^*?]+\*?$/.test(filter.name)

/**
 * The filter as a condition on the table alias `j`, for a list in this order. The feed decides by the same rules in
 * memory.
 */
export function filterSql(filter: JobFilter, bind: Bind, by: JobOrderField = 'CREATED_AT'): string {
  const conditions = Object.entries(columns).flatMap(([field, condition]) => {
    const value = filter[field as keyof JobFilter]
    return value === null || value === undefined ? [] : [condition(bind, value, by)]
  })
  const within = bounds(filter, bind, by)
  const labels = (filter.labels ?? []).map(({ key, value }) =>
    value === null || value === undefined
      ? `j.labels <> '{}' AND j.labels ? ${bind(key)}`
      : `j.labels <> '{}' AND j.labels @> ${bind(JSON.stringify({ [key]: value }))}::jsonb`,
  )
  return [...conditions, ...within, ...labels, ...waysTo(filter, by)].join(' AND ') || 'TRUE'
}

const holdingRuns = `SELECT job_id FROM run WHERE state IN ${holdingSql}`

/**
 * Where the jobs of a state that is not final are found by a short table or index, without reading final jobs. QUEUED
 * is not here: it may have a million jobs, and then a walk from the newest job soon finds enough of them.
 */
const alive: Readonly<Partial<Record<JobStateName, string>>> = {
  BLOCKED: "SELECT job_id FROM approval WHERE status = 'PENDING'",
  STARTING: holdingRuns,
  RUNNING: holdingRuns,
  CANCELLING: holdingRuns,
}

/** Final states that are rare. An index has only them, so they are named in the text of the statement. */
const unsuccessful: readonly JobStateName[] = ['FAILED', 'INTERRUPTED', 'CANCELLED']

/** Further conditions that follow from a list of states and lead PostgreSQL to a short index. */
function waysTo({ states, stateCategories }: JobFilter, by: JobOrderField): string[] {
  return [states, stateCategories && statesOf(stateCategories)].flatMap((asked) =>
    asked && asked.length > 0 ? [...phaseOf(asked, by), ...placesOf(asked)] : [],
  )
}

/**
 * Whether the jobs are alive or over. Indexes have the two apart, and the time of the end says it to those of the other
 * orders: few jobs that are alive are then sorted instead of looked for among all that are over.
 */
function phaseOf(asked: readonly JobStateName[], by: JobOrderField): string[] {
  const over = asked.filter(isFinal).length
  if (over > 0 && over < asked.length) return []
  const finish = `${finishedAt} ${over > 0 ? '<' : '='} 'infinity'`
  return [over > 0 ? 'j.log_closed' : 'NOT j.log_closed', ...(by === 'CREATED_AT' ? [] : [finish])]
}

function placesOf(asked: readonly JobStateName[]): string[] {
  if (asked.every((state) => unsuccessful.includes(state)))
    return [`j.state IN (${[...new Set(asked)].map((state) => `'${state}'`).join(', ')})`]
  const from = asked.map((state) => alive[state])
  return from.includes(undefined) ? [] : [`j.id = ANY (ARRAY(${[...new Set(from)].join(' UNION ALL ')}))`]
}

/** As in the index job_by_finish, which has jobs that are alive at its end. */
const finishedAt = "coalesce(j.finished_at, 'infinity')"

/** A job finishes after it was created, except when a clock was set back. */
const clockSlack = "interval '1 day'"

/** A limit on one time gives a limit on the other. */
function bounds({ createdAfter, finishedBefore }: JobFilter, bind: Bind, by: JobOrderField): string[] {
  return [
    ...(finishedBefore ? [`j.created_at < ${bind(finishedBefore)}::timestamptz + ${clockSlack}`] : []),
    ...(createdAfter && by === 'FINISHED_AT'
      ? [`${finishedAt} > ${bind(createdAfter)}::timestamptz - ${clockSlack}`]
      : []),
  ]
}

type Condition = (bind: Bind, value: unknown, by: JobOrderField) => string

/**
 * Equality as a range. Of a value that is not among the most common ones PostgreSQL then expects few jobs, and finds
 * them by an index; by equality it would expect the average, and look for them in the order of the list. An index with
 * the order is used by equality.
 */
const equals =
  (column: string, { isOrderedBy, prefix = '' }: { isOrderedBy?: JobOrderField; prefix?: '' | '~' } = {}): Condition =>
  (bind, value, by) => {
    const given = bind(value)
    if (by === isOrderedBy) return `j.${column} = ${given}`
    return `j.${column} ${prefix}>=${prefix} ${given} AND j.${column} ${prefix}<=${prefix} ${given}`
  }
const compares =
  (column: string, sign: '<' | '>'): Condition =>
  (bind, value) =>
    `j.${column} ${sign} ${bind(value)}::timestamptz`

const columns: Readonly<Partial<Record<keyof JobFilter, Condition>>> = {
  ids: (bind, value) => `j.id = ANY(${bind(value)}::text[])`,
  states: (bind, value) => `j.state = ANY(${bind(value)}::text[]::job_state[])`,
  stateCategories: (bind, value) => `j.state = ANY(${bind(statesOf(value))}::text[]::job_state[])`,
  name: (bind, value) => `j.name LIKE ${bind(likePattern(String(value)))}`,
  user: equals('user_id', { isOrderedBy: 'CREATED_AT' }),
  team: equals('team_id'),
  account: equals('account', { prefix: '~' }), // the operators of its index
  project: equals('project', { isOrderedBy: 'CREATED_AT' }),
  queue: equals('queue'),
  pool: equals('pool'),
  executor: equals('executor'),
  createdAfter: compares('created_at', '>'),
  createdBefore: compares('created_at', '<'),
  finishedAfter: (bind, value) => `${finishedAt} > ${bind(value)}::timestamptz AND ${finishedAt} < 'infinity'`,
  finishedBefore: (bind, value) => `${finishedAt} < ${bind(value)}::timestamptz`,
}

const statesOf = (categories: unknown) =>
  jobStates.filter((state) => Array.isArray(categories) && categories.includes(stateCategory[state]))

/** The glob as a PostgreSQL pattern. Matching stops at the end of the text, so stars do not multiply. */
function likePattern(glob: string): string {
  nameGlob(glob)
  return glob
    .replace(/[\\%_]/g, '\\$&')
    .replaceAll('*', '%')
    .replaceAll('?', '_')
}
