import { type Processed, processQueue } from '../../domain/queue/process-queue.ts'
import { builder } from './builder.ts'

const ProcessQueuePayload = builder.objectRef<Processed>('ProcessQueuePayload').implement({
  description: 'Totals of the scheduling passes over all pools.',
  fields: (t) => ({
    considered: t.exposeInt('considered', { description: 'Number of jobs considered.' }),
    started: t.exposeInt('started', { description: 'Number of jobs started.' }),
    preempted: t.exposeInt('preempted', { description: 'Number of runs preempted.' }),
  }),
})

builder.mutationField('processQueue', (t) =>
  t.field({
    type: ProcessQueuePayload,
    description: 'Runs a scheduling pass in every pool that has a leader, and returns when it is committed.',
    resolve: (_root, _args, { domain, viewer }) => processQueue(domain, viewer),
  }),
)
