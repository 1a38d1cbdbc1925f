import { cleanupJobs } from '../../domain/control/cleanup.ts'
import { Forbidden, InvalidInput } from '../../domain/errors.ts'
import { Unavailable } from '../../platform/tx.ts'
import { builder } from '../builder.ts'

const CleanupJobsSuccess = builder.objectRef<{ deletedCount: number }>('CleanupJobsSuccess').implement({
  description: 'What ended long ago is gone.',
  fields: (t) => ({
    deletedCount: t.exposeInt('deletedCount', { description: 'How many jobs; at most 10,000 in a call.' }),
  }),
})

const CleanupJobsResult = builder.errorUnion('CleanupJobsResult', {
  description: 'What became of a cleanup.',
  types: [CleanupJobsSuccess, InvalidInput, Forbidden, Unavailable],
  resolveType: () => CleanupJobsSuccess,
})

builder.mutationField('cleanupJobs', (t) =>
  t.field({
    type: CleanupJobsResult,
    description:
      'Removes final jobs that ended long ago, but for those that alive jobs name. When 10,000 went, ask again.',
    args: { olderThanDays: t.arg.int({ defaultValue: 30, description: 'Days since they ended, 1 … 365.' }) },
    resolve: (_root, args, { domain, viewer }) => cleanupJobs(domain, viewer, args),
  }),
)
