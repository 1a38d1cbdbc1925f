import { setJobPriority } from '../../domain/control/priority.ts'
import { Forbidden, InvalidInput, InvalidState, NotFound } from '../../domain/errors.ts'
import { Unavailable } from '../../platform/tx.ts'
import { builder } from '../builder.ts'
import { JobRef } from '../refs.ts'
import { seen } from './problem.ts'

const SetJobPrioritySuccess = builder.objectRef<{ jobId: string }>('SetJobPrioritySuccess').implement({
  description: 'The job has this priority.',
  fields: (t) => ({
    job: t.field({
      type: JobRef,
      description: 'The job.',
      resolve: ({ jobId }, _args, { load }) => seen(load.job.load(jobId)),
    }),
  }),
})

const SetJobPriorityResult = builder.errorUnion('SetJobPriorityResult', {
  description: 'What became of a priority.',
  types: [SetJobPrioritySuccess, InvalidInput, NotFound, Forbidden, InvalidState, Unavailable],
  resolveType: () => SetJobPrioritySuccess,
})

const SetJobPriorityInput = builder.inputType('SetJobPriorityInput', {
  description: 'A priority that replaces the one of the level.',
  fields: (t) => ({
    jobId: t.id({ required: true, description: 'The job.' }),
    priority: t.int({ description: '0 … 50, higher comes first; null: that of the level counts again.' }),
  }),
})

builder.mutationField('setJobPriority', (t) =>
  t.field({
    type: SetJobPriorityResult,
    description:
      'Sets or clears the priority of a job that is BLOCKED or QUEUED. Waiting does not raise one that was set.',
    args: { input: t.arg({ type: SetJobPriorityInput, required: true, description: 'Which job, and the priority.' }) },
    resolve: (_root, { input }, { domain, viewer }) => setJobPriority(domain, viewer, input),
  }),
)
