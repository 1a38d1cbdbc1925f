import { setJobPriority } from '../../domain/control/priority.ts'
import { InvalidState, NotFound, VersionConflict } from '../../domain/errors.ts'
import { builder } from './builder.ts'
import { declareResult } from './mutation-result.ts'
import { requireRow } from './problem.ts'
import { JobRef } from './refs.ts'

const SetJobPrioritySuccess = builder.objectRef<{ jobId: string }>('SetJobPrioritySuccess').implement({
  description: 'The priority was changed.',
  fields: (t) => ({
    job: t.field({
      type: JobRef,
      description: 'The job.',
      resolve: ({ jobId }, _args, { load }) => requireRow(load.job.load(jobId)),
    }),
  }),
})

const SetJobPriorityResult = declareResult('SetJobPriority', SetJobPrioritySuccess, [
  NotFound,
  InvalidState,
  VersionConflict,
])

const SetJobPriorityInput = builder.inputType('SetJobPriorityInput', {
  description: 'A priority that overrides `basePriority`.',
  fields: (t) => ({
    jobId: t.id({ required: true, description: 'The job.' }),
    priority: t.int({ description: 'Priority 0 … 50, higher first; null: return to `basePriority`.' }),
    expectedVersion: t.field({
      type: 'UInt53',
      description: 'Fails with a version conflict unless the job has this version.',
    }),
  }),
})

builder.mutationField('setJobPriority', (t) =>
  t.field({
    type: SetJobPriorityResult,
    description:
      'Sets or clears the priority of a BLOCKED or QUEUED job. A priority set by a user does not rise with waiting time.',
    args: { input: t.arg({ type: SetJobPriorityInput, required: true, description: 'The job and the priority.' }) },
    resolve: (_root, { input }, { domain, viewer }) => setJobPriority(domain, viewer, input),
  }),
)
