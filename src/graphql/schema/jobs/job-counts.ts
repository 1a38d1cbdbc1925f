import { visibleTo } from '../../../domain/access.ts'
import { jobStates } from '../../../domain/state.ts'
import { countedJobsCost, limits } from '../../caller-limits.ts'
import { refusal } from '../../errors.ts'
import {
  countedJobsMax,
  type JobCountBy,
  type JobCountRow,
  type JobCounts,
  readJobCounts,
} from '../../rows/job-counts.ts'
import type { Bind } from '../../rows/keyset.ts'
import { builder } from '../frame/builder.ts'
import { describeValues } from '../frame/enum-values.ts'
import { exposeColumns } from '../frame/fields.ts'
import { addKeyEdges } from '../frame/key-edges.ts'
import { filterSql, isScan, JobFilterInput } from './job-filter.ts'
import { StateCount } from './workload.ts'

const JobCountByType = builder.enumType('JobCountBy', {
  description: 'Property by which jobs are counted.',
  values: describeValues({
    STATE: 'State of the job.',
    USER: 'Id of the user.',
    TEAM: 'Id of the team.',
    ACCOUNT: 'Account charged.',
    PROJECT: 'Project.',
    QUEUE: 'Name of the submission queue.',
    POOL: 'Name of the pool.',
    EXECUTOR: 'Executor.',
    LABEL: 'Value of the label `labelKey`.',
    LABEL_KEY: 'Key of a label: a job counts once for each of its labels.',
    REASON: 'The `stateReason` of the job.',
  } satisfies Record<JobCountBy, string>),
})

const JobCount = builder.objectRef<JobCountRow>('JobCount')

JobCount.implement({
  description: 'Number of jobs with one key.',
  fields: (t) => ({
    ...exposeColumns(t, {
      key: ['String?', 'The key, as a filter of jobs takes it; null: jobs without a team, project, label or reason.'],
      count: ['Int', 'Number of jobs.'],
    }),
    byState: t.expose('byState', {
      type: [StateCount],
      description: `Number of jobs by state, at most ${jobStates.length}; states without jobs are missing.`,
    }),
  }),
})

addKeyEdges(JobCount)

const JobCountsRef = builder.objectRef<JobCounts>('JobCounts').implement({
  description: 'Numbers of jobs by a key.',
  fields: (t) => ({
    rows: t.expose('rows', {
      type: [JobCount],
      description: `The keys with the most jobs, largest number first; \`first\`, at most ${limits.pageSizeMax}.`,
      complexity: { multiplier: 1 },
    }),
    isExact: t.exposeBoolean('isExact', {
      description: `false: more than ${countedJobsMax.toLocaleString('en')} jobs match, and the newest of them were counted.`,
    }),
  }),
})

const countedDefault = 50

builder.queryField('jobCounts', (t) =>
  t.field({
    type: JobCountsRef,
    description: 'Counts the jobs that you may see and that match the filter, by a key. A count reads these jobs.',
    args: {
      filter: t.arg({ type: JobFilterInput, description: 'Filter; default: all.' }),
      by: t.arg({ type: JobCountByType, required: true, description: 'Property by which the jobs are counted.' }),
      labelKey: t.arg.string({ description: 'Key of the label, with LABEL only.' }),
      first: t.arg.int({
        required: true,
        defaultValue: countedDefault,
        description: `Number of keys, at most ${limits.pageSizeMax}.`,
      }),
    },
    complexity: ({ filter, first }) => ({
      field: countedJobsCost * (isScan(filter) ? 2 : 1),
      multiplier: Math.min(Math.max(first, 1), limits.pageSizeMax),
    }),
    resolve(_root, { filter, by, labelKey, first }, { listSql, viewer }) {
      if (first < 1 || first > limits.pageSizeMax)
        throw refusal('BAD_REQUEST', `\`first\` must be 1 … ${limits.pageSizeMax}, not ${first}`)
      if ((by === 'LABEL') !== (labelKey != null))
        throw refusal('BAD_REQUEST', 'Give `labelKey` with `by: LABEL`, and only then')
      const where = (bind: Bind) => `${visibleTo(viewer, 'j', bind)} AND ${filterSql(filter ?? {}, bind)}`
      return readJobCounts(listSql, { by, labelKey: labelKey ?? null, first, where })
    },
  }),
)
