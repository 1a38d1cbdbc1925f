import { labelsMax } from '../../domain/input.ts'
import { jobStates, stateCategory } from '../../domain/state.ts'
import { type JobFilter, nameGlob } from '../../feed/filter.ts'
import { atMost } from '../bounds.ts'
import { builder } from '../builder.ts'
import type { Bind } from '../keyset.ts'
import { limits } from '../limits.ts'
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
    ids: t.idList(atMost(limits.filterIdsMax, 'Jobs with these ids')),
    states: t.field({ type: [JobState], ...atMost(jobStates.length, 'Jobs in one of these states') }),
    stateCategories: t.field({
      type: [StateCategory],
      ...atMost(jobStates.length, 'Jobs in a state of one of these categories'),
    }),
    name: t.string({
      description: 'Glob on the job name: * matches any characters, ? matches one; at most 255 characters.',
    }),
    labels: t.field({ type: [LabelFilter], ...atMost(labelsMax, 'Jobs with all of these labels') }),
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

/** The filter as a condition on the table alias `j`. The feed decides by the same rules in memory. */
export function filterSql(filter: JobFilter, bind: Bind): string {
  const conditions = Object.entries(columns).flatMap(([field, condition]) => {
    const value = filter[field as keyof JobFilter]
    return value === null || value === undefined ? [] : [condition(bind, value)]
  })
  const labels = (filter.labels ?? []).map(({ key, value }) =>
    value === null || value === undefined
      ? `j.labels ? ${bind(key)}`
      : `j.labels @> ${bind(JSON.stringify({ [key]: value }))}::jsonb`,
  )
  return [...conditions, ...labels].join(' AND ') || 'TRUE'
}

type Condition = (bind: Bind, value: unknown) => string

const equals =
  (column: string): Condition =>
  (bind, value) =>
    `j.${column} = ${bind(value)}`
const compares =
  (column: string, sign: '<' | '>'): Condition =>
  (bind, value) =>
    `j.${column} ${sign} ${bind(value)}::timestamptz`

const columns: Readonly<Partial<Record<keyof JobFilter, Condition>>> = {
  ids: (bind, value) => `j.id = ANY(${bind(value)}::text[])`,
  states: (bind, value) => `j.state = ANY(${bind(value)}::text[]::job_state[])`,
  stateCategories: (bind, value) => `j.state = ANY(${bind(statesOf(value))}::text[]::job_state[])`,
  name: (bind, value) => `j.name LIKE ${bind(likePattern(String(value)))}`,
  user: equals('user_id'),
  team: equals('team_id'),
  account: equals('account'),
  project: equals('project'),
  queue: equals('queue'),
  pool: equals('pool'),
  executor: equals('executor'),
  createdAfter: compares('created_at', '>'),
  createdBefore: compares('created_at', '<'),
  finishedAfter: compares('finished_at', '>'),
  finishedBefore: compares('finished_at', '<'),
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
