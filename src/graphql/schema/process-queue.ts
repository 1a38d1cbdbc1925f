import { type Processed, processQueue } from '../../domain/queue/process-queue.ts'
import { builder } from '../builder.ts'

const ProcessQueuePayload = builder.objectRef<Processed>('ProcessQueuePayload').implement({
  description: 'What a pass did, over all pools.',
  fields: (t) => ({
    considered: t.exposeInt('considered', { description: 'Jobs that were looked at.' }),
    started: t.exposeInt('started', { description: 'Jobs that were started.' }),
    preempted: t.exposeInt('preempted', { description: 'Runs that were asked to leave.' }),
  }),
})

builder.mutationField('processQueue', (t) =>
  t.field({
    type: ProcessQueuePayload,
    description: 'Makes a pass over what waits in every pool that has a leader, and answers when it is committed.',
    resolve: (_root, _args, { domain, viewer }) => processQueue(domain, viewer),
  }),
)
