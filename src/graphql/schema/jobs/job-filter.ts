import { executorNames } from '../../../domain/executors.ts'
import { labelsMax } from '../../../domain/input.ts'
import { holdingSql, isFinal, type JobState as JobStateName, jobStates, stateCategory } from '../../../domain/state.ts'
import { checkText, type JobFilter, parseNameGlob } from '../../../feed/filter.ts'
import { capList } from '../../admission/argument-bounds.ts'
import { limits } from '../../caller-limits.ts'
import type { Bind } from '../../rows/keyset.ts'
import type { JobOrderField } from '../../rows/listings.ts'
import { builder } from '../frame/builder.ts'
import { ExecutorKind, JobState, StateCategory, StateReason } from '../frame/enums.ts'

const LabelFilter = builder.inputType('LabelFilter', {
  description: 'A label that jobs must have.',
  fields: (t) => ({
    key: t.string({ required: true, description: 'Key that jobs must have.' }),
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
    stateReasons: t.field({
      type: [StateReason],
      ...capList(limits.filterIdsMax, 'Jobs whose `stateReason` is one of these'),
    }),
    text: t.string({
      description:
        'Jobs whose name or value of a label contains this text, or whose id begins with it; the case of ASCII letters does not matter. At most 255 characters. Without an index: a list may read all jobs, and ends with QUERY_TIMEOUT after 5 s.',
    }),
    name: t.string({
      description: 'Glob on the job name: * matches any characters, ? matches one; at most 255 characters.',
    }),
    labels: t.field({ type: [LabelFilter], ...capList(labelsMax, 'Jobs with all of these labels') }),
    users: t.idList(capList(limits.filterIdsMax, 'Jobs submitted by one of these users')),
    teams: t.idList(capList(limits.filterIdsMax, 'Jobs of one of these teams')),
    accounts: t.stringList(capList(limits.filterIdsMax, 'Jobs charged to one of these accounts')),
    projects: t.stringList(capList(limits.filterIdsMax, 'Jobs of one of these projects')),
    queues: t.stringList(capList(limits.filterIdsMax, 'Jobs submitted to one of these submission queues')),
    pools: t.stringList(capList(limits.filterIdsMax, 'Jobs of one of these pools')),
    executors: t.field({ type: [ExecutorKind], ...capList(executorNames.length, 'Jobs of one of these executors') }),
    node: t.string({
      description: 'Jobs that hold resources on a node of this name: STARTING, RUNNING or CANCELLING.',
    }),
    createdAfter: t.field({ type: 'DateTime', description: 'Jobs submitted after this time.' }),
    createdBefore: t.field({ type: 'DateTime', description: 'Jobs submitted before this time.' }),
    startedAfter: t.field({ type: 'DateTime', description: 'Jobs whose first run started after this time.' }),
    startedBefore: t.field({ type: 'DateTime', description: 'Jobs whose first run started before this time.' }),
    finishedAfter: t.field({ type: 'DateTime', description: 'Jobs that became final after this time.' }),
    finishedBefore: t.field({ type: 'DateTime', description: 'Jobs that became final before this time.' }),
  }),
})

/** true: the filter must compare every name. The index finds only whole names and prefixes, not texts and other globs. */
export const isScan = (filter: Pick<JobFilter, 'name' | 'text'> | null | undefined): boolean =>
  filter?.text != null || (filter?.name != null && !/^[^*?]+\*?$/.test(filter.name))

/** Builds the condition on the table alias `j` for a list in this order. The feed applies the same rules in memory. */
export function filterSql(filter: JobFilter, bind: Bind, by: JobOrderField = 'CREATED_AT'): string {
  const conditions = Object.entries(columns).flatMap(([field, condition]) => {
    const value = filter[field as keyof JobFilter]
    return value === null || value === undefined ? [] : [condition(bind, value, by)]
  })
  const within = deriveBounds(filter, bind, by)
  const labels = (filter.labels ?? []).map(({ key, value }) =>
    value === null || value === undefined
      ? `j.labels <> '{}' AND j.labels ? ${bind(key)}`
      : `j.labels <> '{}' AND j.labels @> ${bind(JSON.stringify({ [key]: value }))}::jsonb`,
  )
  return [...conditions, ...within, ...labels, ...selectIndexes(filter, by)].join(' AND ') || 'TRUE'
}

const holdingRuns = `SELECT job_id FROM run WHERE state IN ${holdingSql}`

/**
 * Short tables or indexes that find the jobs of a live state without reading final jobs. QUEUED is missing: with many
 * QUEUED jobs a walk from the newest job soon finds enough of them.
 */
const alive: Readonly<Partial<Record<JobStateName, string>>> = {
  BLOCKED: "SELECT job_id FROM approval WHERE status = 'PENDING'",
  STARTING: holdingRuns,
  RUNNING: holdingRuns,
  CANCELLING: holdingRuns,
}

/** Rare final states. They are literals in the statement so that their partial index applies. */
const unsuccessful: readonly JobStateName[] = ['FAILED', 'INTERRUPTED', 'CANCELLED']

/** Redundant conditions on states that lead PostgreSQL to a short index. */
function selectIndexes({ states, stateCategories }: JobFilter, by: JobOrderField): string[] {
  return [states, stateCategories && listStates(stateCategories)].flatMap((wanted) =>
    wanted && wanted.length > 0 ? [...selectPhase(wanted, by), ...selectStates(wanted)] : [],
  )
}

/**
 * Restricts the list to live or to final jobs, which have separate indexes. In other orders the condition is on the finish
 * time: PostgreSQL then sorts the few live jobs instead of searching for them among all final ones.
 */
function selectPhase(wanted: readonly JobStateName[], by: JobOrderField): string[] {
  const over = wanted.filter(isFinal).length
  if (over > 0 && over < wanted.length) return []
  const finish = `${finishedAt} ${over > 0 ? '<' : '='} 'infinity'`
  return [over > 0 ? 'j.log_closed' : 'NOT j.log_closed', ...(by === 'CREATED_AT' ? [] : [finish])]
}

function selectStates(wanted: readonly JobStateName[]): string[] {
  if (wanted.every((state) => unsuccessful.includes(state)))
    return [`j.state IN (${[...new Set(wanted)].map((state) => `'${state}'`).join(', ')})`]
  const from = wanted.map((state) => alive[state])
  return from.includes(undefined) ? [] : [`j.id = ANY (ARRAY(${[...new Set(from)].join(' UNION ALL ')}))`]
}

/** The expressions of the indexes job_by_finish and job_by_start, where jobs without the time come last. */
const finishedAt = "coalesce(j.finished_at, 'infinity')"
const startedAt = "coalesce(j.started_at, 'infinity')"

/** A job starts after its creation and finishes after its start unless a clock was set back. */
const clockSlack = "interval '1 day'"

/** Derives a limit on one time from a limit on the other. */
function deriveBounds(filter: JobFilter, bind: Bind, by: JobOrderField): string[] {
  const { createdAfter, startedAfter, startedBefore, finishedBefore } = filter
  const before = [startedBefore, finishedBefore].flatMap((time) =>
    time ? [`j.created_at < ${bind(time)}::timestamptz + ${clockSlack}`] : [],
  )
  const ordered = by === 'FINISHED_AT' ? finishedAt : by === 'STARTED_AT' ? startedAt : null
  const after = [createdAfter, by === 'FINISHED_AT' ? startedAfter : null].flatMap((time) =>
    time && ordered ? [`${ordered} > ${bind(time)}::timestamptz - ${clockSlack}`] : [],
  )
  return [...before, ...after]
}

type Condition = (bind: Bind, value: unknown, by: JobOrderField) => string

/**
 * Writes equality as a range unless an index has the order of the list. For an uncommon value PostgreSQL then expects few
 * jobs and uses the index of the column; with equality it would expect the average and scan in the order of the list.
 */
const isOneOf =
  (column: string, { isOrderedBy, prefix = '' }: { isOrderedBy?: JobOrderField; prefix?: '' | '~' } = {}): Condition =>
  (bind, value, by) => {
    const values = value as readonly string[]
    if (values.length !== 1) return `j.${column} = ANY(${bind(values)}::text[])`
    const given = bind(values[0])
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
  stateCategories: (bind, value) => `j.state = ANY(${bind(listStates(value))}::text[]::job_state[])`,
  stateReasons: isOneOf('state_reason', { isOrderedBy: 'CREATED_AT' }),
  text(bind, value) {
    const folded = checkText(String(value))
    const part = bind(folded)
    // First compares all labels of a job as one text, which is fast and excludes most jobs.
    const escaped = bind(JSON.stringify(folded).slice(1, -1))
    const contains = (column: string) => `strpos(lower(${column} COLLATE "C"), ${part}) > 0`
    return `(starts_with(j.id, ${part}) OR ${contains('j.name')}
      OR (j.labels <> '{}' AND strpos(lower(j.labels::text COLLATE "C"), ${escaped}) > 0
        AND EXISTS (SELECT FROM jsonb_each_text(j.labels) l WHERE ${contains('l.value')})))`
  },
  name: (bind, value) => `j.name LIKE ${bind(likePattern(String(value)))}`,
  users: isOneOf('user_id', { isOrderedBy: 'CREATED_AT' }),
  teams: isOneOf('team_id'),
  accounts: isOneOf('account', { prefix: '~' }), // the operators of its index
  projects: isOneOf('project', { isOrderedBy: 'CREATED_AT' }),
  queues: isOneOf('queue'),
  pools: isOneOf('pool'),
  executors: isOneOf('executor'),
  node: (bind, value) => `j.id = ANY (ARRAY(${holdingRuns} AND ${bind(value)}::text = ANY(nodes)))`,
  createdAfter: compares('created_at', '>'),
  createdBefore: compares('created_at', '<'),
  startedAfter: (bind, value) => `${startedAt} > ${bind(value)}::timestamptz AND ${startedAt} < 'infinity'`,
  startedBefore: (bind, value) => `${startedAt} < ${bind(value)}::timestamptz`,
  finishedAfter: (bind, value) => `${finishedAt} > ${bind(value)}::timestamptz AND ${finishedAt} < 'infinity'`,
  finishedBefore: (bind, value) => `${finishedAt} < ${bind(value)}::timestamptz`,
}

const listStates = (categories: unknown) =>
  jobStates.filter((state) => Array.isArray(categories) && categories.includes(stateCategory[state]))

/** Converts a glob to a LIKE pattern, which PostgreSQL matches without exponential backtracking. */
function likePattern(glob: string): string {
  parseNameGlob(glob)
  return glob
    .replace(/[\\%_]/g, '\\$&')
    .replaceAll('*', '%')
    .replaceAll('?', '_')
}
