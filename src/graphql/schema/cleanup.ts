import { cleanupJobs } from '../../domain/control/cleanup.ts'
import { Forbidden, InvalidInput } from '../../domain/errors.ts'
import { Unavailable } from '../../platform/tx.ts'
import { builder } from './builder.ts'

const CleanupJobsSuccess = builder.objectRef<{ deletedCount: number }>('CleanupJobsSuccess').implement({
  description: 'Old final jobs were deleted.',
  fields: (t) => ({
    deletedCount: t.exposeInt('deletedCount', { description: 'Number of deleted jobs; at most 10,000 per call.' }),
  }),
})

const CleanupJobsResult = builder.errorUnion('CleanupJobsResult', {
  description: 'Result of `cleanupJobs`.',
  types: [CleanupJobsSuccess, InvalidInput, Forbidden, Unavailable],
  resolveType: () => CleanupJobsSuccess,
})

builder.mutationField('cleanupJobs', (t) =>
  t.field({
    type: CleanupJobsResult,
    description:
      'Deletes old final jobs, except those that live jobs depend on. Deletes at most 10,000 jobs per call; repeat the call if `deletedCount` is 10,000.',
    args: {
      olderThanDays: t.arg.int({
        defaultValue: 30,
        description: 'Minimum age in days since the end of the job, 1 … 365.',
      }),
    },
    resolve: (_root, args, { domain, viewer }) => cleanupJobs(domain, viewer, args),
  }),
)
