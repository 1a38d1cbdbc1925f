import type { Waiting } from '../../domain/queue.ts'
import type { Reason } from '../../domain/reason.ts'
import { builder } from '../builder.ts'

/** Why a job waits, and for how long. */
export const PendingReason = builder.objectRef<Reason>('PendingReason').implement({
  description: 'A reason why a job waits.',
  fields: (t) => ({
    code: t.exposeString('code', { description: 'The reason, for programs.' }),
    message: t.exposeString('message', { description: 'The same as a sentence.' }),
    jobId: t.exposeID('jobId', { nullable: true, description: 'The job it waits for, where it is one.' }),
    scope: t.exposeString('scope', {
      nullable: true,
      description: 'Whose limit is reached: "user:ann", "pool:local" …',
    }),
    limit: t.exposeFloat('limit', { nullable: true, description: 'The limit.' }),
    used: t.exposeFloat('used', { nullable: true, description: 'What counts against it now.' }),
  }),
})

const Gate = builder.objectRef<Waiting['gates'][number]>('Gate').implement({
  description: 'Something that must be so before the job may start.',
  fields: (t) => ({
    code: t.exposeString('code', { description: 'What it is.' }),
    open: t.exposeBoolean('open', { description: 'Whether it is so.' }),
    detail: t.exposeString('detail', { nullable: true, description: 'What it waits for.' }),
    opensAt: t.expose('opensAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it opens, where that is known.',
    }),
  }),
})

const Fit = builder.objectRef<Waiting['fit']>('Fit').implement({
  description: 'Whether the pool has what the job asks for.',
  fields: (t) => ({
    freeNow: t.exposeBoolean('freeNow', { description: 'It is free at this moment.' }),
    couldEverFit: t.exposeBoolean('couldEverFit', { description: 'It would fit an empty pool.' }),
    missing: t.exposeStringList('missing', { description: 'What is missing, in words.' }),
  }),
})

export const Scheduling = builder.objectRef<Waiting>('Scheduling').implement({
  description: 'Where a QUEUED job stands.',
  fields: (t) => ({
    reasons: t.expose('reasons', { type: [PendingReason], description: 'Why it waits; the first decides.' }),
    jobsAhead: t.int({ description: 'Jobs of its pool that come before it.', resolve: ({ position }) => position - 1 }),
    positionIsExact: t.boolean({
      description: 'Whether the place is certain, rather than the rank if nothing changes.',
      resolve: () => true,
    }),
    gates: t.expose('gates', { type: [Gate], description: 'What must be so before it may start.' }),
    fit: t.expose('fit', { type: Fit, description: 'Whether the pool has what it asks for.' }),
  }),
})
