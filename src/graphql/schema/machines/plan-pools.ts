import { NotFound } from '../../../domain/errors.ts'
import { type Processed, planPools } from '../../../domain/queue/plan-pools.ts'
import { exposeColumns } from '../frame/fields.ts'
import { declareMutation } from '../frame/mutation.ts'
import type { SuccessFields } from '../frame/mutation-result.ts'

declareMutation('planPools', {
  description: 'Runs a scheduling pass now, and returns when it is committed.',
  input: {
    argumentDescription: 'The pools.',
    description: 'The pools to plan.',
    fields: (t) => ({ pool: t.string({ description: 'Name of the pool; default: all pools that have a leader.' }) }),
  },
  success: {
    description: 'Totals of the scheduling passes.',
    fields: (t: SuccessFields<Processed>) =>
      exposeColumns(t, {
        considered: ['Int', 'Number of jobs considered.'],
        started: ['Int', 'Number of jobs started.'],
        preempted: ['Int', 'Number of runs preempted.'],
      }),
  },
  problems: [NotFound],
  refusesInput: false,
  resolve: (input, { domain, viewer }) => planPools(domain, viewer, input),
})
