import { visibleTo } from '../../../domain/access.ts'
import { scanCost } from '../../caller-limits.ts'
import { readList, toConnection } from '../../rows/connection.ts'
import type { Bind } from '../../rows/keyset.ts'
import { type JobOrderField, jobsListing } from '../../rows/listings.ts'
import { pageCost } from '../../rows/page.ts'
import { builder } from '../frame/builder.ts'
import { describeValues } from '../frame/enum-values.ts'
import { ExecutorKind } from '../frame/enums.ts'
import { JobRef } from '../frame/refs.ts'
import { JobConnection } from './job-connection.ts'
import { filterSql, isScan, JobFilterInput } from './job-filter.ts'

const JobOrderFieldType = builder.enumType('JobOrderField', {
  description: 'Field that jobs are sorted by.',
  values: describeValues({
    CREATED_AT: 'Time of submission.',
    STARTED_AT: 'Time when the first run started; jobs that never started come after all others.',
    FINISHED_AT: 'Time of the final state; jobs that are not final come after all others.',
    PRIORITY: 'Base or set priority, without the effect of waiting.',
  } satisfies Record<JobOrderField, string>),
})

const OrderDirection = builder.enumType('OrderDirection', {
  description: 'Sort direction.',
  values: describeValues({
    ASC: 'Smallest first.',
    DESC: 'Largest first.',
  }),
})

const JobOrder = builder.inputType('JobOrder', {
  description: 'Sort order.',
  fields: (t) => ({
    field: t.field({ type: JobOrderFieldType, required: true, description: 'Field to sort by.' }),
    direction: t.field({
      type: OrderDirection,
      required: true,
      description: 'Ascending or descending; jobs with equal values are ordered by id.',
    }),
  }),
})

builder.queryField('job', (t) =>
  t.field({
    type: JobRef,
    nullable: true,
    description: 'A job; null: it does not exist, or you may not see it.',
    args: { id: t.arg.id({ required: true, description: 'job_…' }) },
    resolve: (_root, { id }, { load }) => load.job.load(id),
  }),
)

builder.queryField('jobByNativeId', (t) =>
  t.field({
    type: JobRef,
    nullable: true,
    description: 'The newest job with a run of this backend id, including final jobs.',
    args: {
      executor: t.arg({ type: ExecutorKind, required: true, description: 'The executor of the job.' }),
      nativeId: t.arg.string({ required: true, description: 'Id of the run in the backend.' }),
    },
    async resolve(_root, { executor, nativeId }, { domain, load }) {
      const run = await domain.db.prisma.run.findFirst({
        where: { nativeId, job: { executor } },
        orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      })
      return run && load.job.load(run.jobId)
    },
  }),
)

builder.queryField('jobs', (t) =>
  t.field({
    type: JobConnection,
    description: 'Jobs that you may see.',
    args: {
      ...t.arg.connectionArgs(),
      filter: t.arg({ type: JobFilterInput, description: 'Filter; default: all.' }),
      orderBy: t.arg({ type: JobOrder, description: 'Sort order; default: newest first.' }),
    },
    complexity: ({ filter, ...page }) => ({ ...pageCost(page), field: isScan(filter) ? scanCost : 1 }),
    async resolve(_root, { filter, orderBy, ...args }, { listSql, viewer, load, head }) {
      const by = orderBy?.field ?? 'CREATED_AT'
      const listing = jobsListing(by, orderBy?.direction !== 'ASC')
      const where = (bind: Bind) => `${visibleTo(viewer, 'j', bind)} AND ${filterSql(filter ?? {}, bind, by)}`
      const position = await head()
      const list = await readList(listSql, { listing, where, filter, args })
      return { ...(await toConnection(list, (ids) => load.job.loadMany(ids))), head: position }
    },
  }),
)
