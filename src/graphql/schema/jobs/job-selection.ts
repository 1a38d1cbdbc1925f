import { type Viewer, visibleTo } from '../../../domain/access.ts'
import { type JobAction, listAcceptingStates } from '../../../domain/actions.ts'
import { CountMismatch, InvalidInput, type Refusal } from '../../../domain/errors.ts'
import type { JobFilter } from '../../../feed/filter.ts'
import type { Sql, Unavailable } from '../../../platform/tx.ts'
import { capList } from '../../admission/argument-bounds.ts'
import { limits } from '../../caller-limits.ts'
import type { RequestContext } from '../../rows/context.ts'
import type { Bind } from '../../rows/keyset.ts'
import { builder } from '../frame/builder.ts'
import { pairJobs, type SelectionOutcome } from '../frame/mutation-result.ts'
import { catchOutage } from '../frame/unavailable.ts'
import { filterSql, JobFilterInput } from './job-filter.ts'

/** Acts on jobs by their ids, or on all jobs that match a filter, from the oldest to the newest. */

const MatchingJobs = builder.inputType('MatchingJobs', {
  description:
    'The oldest 1,000 of the jobs that match a filter, that you may see, and that the mutation would change.',
  fields: (t) => ({
    filter: t.field({ type: JobFilterInput, required: true, description: 'Filter that the jobs match.' }),
    expectedCount: t.int({
      required: true,
      description:
        'How many jobs match and would be changed in this and further calls, at most 100,000; of a further call, `remaining` of the call before. If the count of the server differs, nothing is changed.',
    }),
  }),
})

export const JobSelection = builder.inputType('JobSelection', {
  description: 'Jobs to act on; set exactly one field.',
  isOneOf: true,
  fields: (t) => ({
    jobIds: t.idList(capList(limits.bulkMax, 'Jobs with these ids; a repeated id counts once')),
    matching: t.field({
      type: MatchingJobs,
      description: 'Jobs that match a filter. Repeat the call until `remaining` is 0 or no job was changed.',
    }),
  }),
})

interface Act<Outcome> {
  action: JobAction
  /** Selects the jobs that the action would change, on the table alias `j`. */
  condition: (bind: Bind) => string
  work: (jobIds: readonly string[]) => Promise<(Outcome | Refusal | Unavailable)[]>
}

export async function actOnSelection<Outcome>(
  { listSql, viewer }: Pick<RequestContext, 'listSql' | 'viewer'>,
  { jobIds, matching }: typeof JobSelection.$inferInput,
  { action, condition, work }: Act<Outcome>,
): Promise<SelectionOutcome<Outcome>> {
  if (!matching) {
    const unique = [...new Set(jobIds)]
    return { results: pairJobs(unique, await catchOutage(unique, work)), remaining: 0 }
  }
  const { filter, expectedCount } = matching
  const found = await readChangeable(listSql, viewer, { filter, action, condition })
  if (found.count !== expectedCount) throw new CountMismatch(expectedCount, found.count)
  const outcomes = await catchOutage(found.ids, work)
  // If the second count fails, the response must still report the changed jobs.
  const left = await readChangeable(listSql, viewer, { filter, action, condition }).catch(() => ({
    count: found.count - outcomes.filter((outcome) => !(outcome instanceof Error)).length,
  }))
  return { results: pairJobs(found.ids, outcomes), remaining: left.count }
}

const countedMax = 100_000

async function readChangeable(
  sql: Sql,
  viewer: Viewer,
  { filter, action, condition }: Pick<Act<never>, 'action' | 'condition'> & { filter: JobFilter },
): Promise<{ count: number; ids: string[] }> {
  const values: unknown[] = []
  const bind: Bind = (value) => `$${values.push(value)}`
  const states = listAcceptingStates(action)
  const where = `${visibleTo(viewer, 'j', bind)} AND ${condition(bind)} AND ${filterSql({ states }, bind)} AND ${filterSql(filter, bind)}`
  const [row] = await sql.query<{ count: number; ids: string[] }>(
    `WITH matching AS MATERIALIZED (SELECT j.created_at, j.id FROM job j WHERE ${where} LIMIT ${countedMax + 1})
     SELECT (SELECT count(*) FROM matching) AS count,
       ARRAY(SELECT id FROM matching ORDER BY created_at, id LIMIT ${limits.bulkMax}) AS ids`,
    values,
  )
  const { count, ids } = row ?? { count: 0, ids: [] }
  if (count > countedMax)
    throw InvalidInput.at(
      'selection.matching.filter',
      `Matches more than ${countedMax.toLocaleString('en-US')} jobs; narrow it, for example by createdBefore`,
    )
  return { count, ids }
}
