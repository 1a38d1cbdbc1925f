import { cleanupJobs } from '../../domain/control/cleanup.ts'
import { builder } from './builder.ts'
import { declareResult } from './mutation-result.ts'

const CleanupJobsSuccess = builder.objectRef<{ deletedCount: number }>('CleanupJobsSuccess').implement({
  description: 'Old final jobs were deleted.',
  fields: (t) => ({
    deletedCount: t.exposeInt('deletedCount', { description: 'Number of deleted jobs; at most 10,000 per call.' }),
  }),
})

const CleanupJobsResult = declareResult('CleanupJobs', CleanupJobsSuccess)

const CleanupJobsInput = builder.inputType('CleanupJobsInput', {
  description: 'The jobs to delete.',
  fields: (t) => ({
    olderThanDays: t.int({
      defaultValue: 30,
      description: 'Minimum age in days since the end of the job, 1 … 365.',
    }),
  }),
})

builder.mutationField('cleanupJobs', (t) =>
  t.field({
    type: CleanupJobsResult,
    description:
      'Deletes old final jobs, except those that live jobs depend on. Deletes at most 10,000 jobs per call; repeat the call if `deletedCount` is 10,000.',
    args: { input: t.arg({ type: CleanupJobsInput, required: true, description: 'The jobs.' }) },
    resolve: (_root, { input }, { domain, viewer }) => cleanupJobs(domain, viewer, input),
  }),
)
