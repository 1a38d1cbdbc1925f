import { NotFound } from '../../../domain/errors.ts'
import { type Processed, planPools } from '../../../domain/queue/plan-pools.ts'
import { builder } from '../frame/builder.ts'
import { show } from '../frame/fields.ts'
import { declareResult } from '../frame/mutation-result.ts'

const PlanPoolsSuccess = builder.objectRef<Processed>('PlanPoolsSuccess').implement({
  description: 'Totals of the scheduling passes.',
  fields: (t) =>
    show(t, {
      considered: ['Int', 'Number of jobs considered.'],
      started: ['Int', 'Number of jobs started.'],
      preempted: ['Int', 'Number of runs preempted.'],
    }),
})

const PlanPoolsInput = builder.inputType('PlanPoolsInput', {
  description: 'The pools to plan.',
  fields: (t) => ({ pool: t.string({ description: 'Name of the pool; default: all pools that have a leader.' }) }),
})

builder.mutationField('planPools', (t) =>
  t.field({
    type: declareResult('PlanPools', PlanPoolsSuccess, [NotFound], { refusesInput: false }),
    description: 'Runs a scheduling pass now, and returns when it is committed.',
    args: { input: t.arg({ type: PlanPoolsInput, required: true, description: 'The pools.' }) },
    resolve: (_root, { input }, { domain, viewer }) => planPools(domain, viewer, input),
  }),
)
