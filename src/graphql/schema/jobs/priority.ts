import { buildPrioritySql } from '../../../domain/control/changeable.ts'
import { setJobPriorities, setJobPriority } from '../../../domain/control/priority.ts'
import { InvalidState, NotFound, VersionConflict } from '../../../domain/errors.ts'
import { builder } from '../frame/builder.ts'
import { selectionCost } from '../frame/bulk-cost.ts'
import { expectedVersion, objectField } from '../frame/fields.ts'
import { declareMutation } from '../frame/mutation.ts'
import { declareSelectionResult, type SuccessFields } from '../frame/mutation-result.ts'
import { actOnSelection, JobSelection } from './job-selection.ts'

const SetJobPriorityResult = declareMutation('setJobPriority', {
  description:
    'Sets or clears the priority of a BLOCKED or QUEUED job. A priority set by a user does not rise with waiting time.',
  input: {
    argumentDescription: 'The job and the priority.',
    description: 'A priority that overrides `basePriority`.',
    fields: (t) => ({
      jobId: t.id({ required: true, description: 'The job whose priority is set.' }),
      priority: t.int({ description: 'Priority 0 … 50, higher first; null: return to `basePriority`.' }),
      expectedVersion: t.field(expectedVersion('job')),
    }),
  },
  success: {
    description: 'The priority was changed.',
    fields: (t: SuccessFields<{ jobId: string }>) => ({
      job: objectField(t, 'jobId', 'The job with its new priority.'),
    }),
  },
  problems: [NotFound, InvalidState, VersionConflict],
  resolve: (input, { domain, viewer }) => setJobPriority(domain, viewer, input),
})

const SetJobPrioritiesInput = builder.inputType('SetJobPrioritiesInput', {
  description: 'One priority for several jobs.',
  fields: (t) => ({
    selection: t.field({ type: JobSelection, required: true, description: 'The jobs.' }),
    priority: t.int({ description: 'Priority 0 … 50, higher first; null: return to `basePriority`.' }),
  }),
})

builder.mutationField('setJobPriorities', (t) =>
  t.field({
    type: declareSelectionResult('SetJobPriorities', SetJobPriorityResult),
    description:
      'Sets or clears the priority of up to 1,000 BLOCKED or QUEUED jobs. A filter selects those that match, have another priority, and are not in a FAIR_SHARE pool, unless the priority is cleared.',
    args: { input: t.arg({ type: SetJobPrioritiesInput, required: true, description: 'The jobs and the priority.' }) },
    complexity: ({ input: { selection } }) => selectionCost(selection),
    resolve: (_root, { input: { selection, priority } }, context) =>
      actOnSelection(context, selection, {
        action: 'SET_PRIORITY',
        condition: (bind) => buildPrioritySql(context.viewer, priority ?? null, bind),
        work: (jobIds) => setJobPriorities(context.domain, context.viewer, { jobIds, priority }),
      }),
  }),
)
