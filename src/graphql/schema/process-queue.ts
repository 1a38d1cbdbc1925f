import { NotFound } from '../../domain/errors.ts'
import { type Processed, processQueue } from '../../domain/queue/process-queue.ts'
import { builder } from './builder.ts'
import { declareResult } from './mutation-result.ts'

const ProcessQueueSuccess = builder.objectRef<Processed>('ProcessQueueSuccess').implement({
  description: 'Totals of the scheduling passes.',
  fields: (t) => ({
    considered: t.exposeInt('considered', { description: 'Number of jobs considered.' }),
    started: t.exposeInt('started', { description: 'Number of jobs started.' }),
    preempted: t.exposeInt('preempted', { description: 'Number of runs preempted.' }),
  }),
})

const ProcessQueueInput = builder.inputType('ProcessQueueInput', {
  description: 'The pools to schedule.',
  fields: (t) => ({ pool: t.string({ description: 'Name of the pool; default: all pools that have a leader.' }) }),
})

builder.mutationField('processQueue', (t) =>
  t.field({
    type: declareResult('ProcessQueue', ProcessQueueSuccess, [NotFound], { refusesInput: false }),
    description: 'Runs a scheduling pass now, and returns when it is committed.',
    args: { input: t.arg({ type: ProcessQueueInput, required: true, description: 'The pools.' }) },
    resolve: (_root, { input }, { domain, viewer }) => processQueue(domain, viewer, input),
  }),
)
