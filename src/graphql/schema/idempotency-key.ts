import { findKey } from '../../domain/submission/keys.ts'
import { builder } from '../builder.ts'
import { JobRef } from '../refs.ts'
import { seen } from './problem.ts'

/** Keys of the viewer; others' keys cannot be asked for. */
type KeyShape = NonNullable<Awaited<ReturnType<typeof findKey>>>

const IdempotencyKeyRef = builder.objectRef<KeyShape>('IdempotencyKey').implement({
  description: 'A key of a submission, and the job that a submission with it is answered with.',
  fields: (t) => ({
    key: t.exposeString('key', { description: 'The key.' }),
    job: t.field({
      type: JobRef,
      description: 'The job that the first submission made.',
      resolve: ({ jobId }, _args, { load }) => seen(load.job.load(jobId)),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was first used.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'From then on it makes a new job.' }),
  }),
})

builder.queryField('idempotencyKey', (t) =>
  t.field({
    type: IdempotencyKeyRef,
    nullable: true,
    description: 'Your key; null: never used, its time is over, or its job was deleted.',
    args: { key: t.arg.string({ required: true, description: 'The key.' }) },
    resolve: (_root, { key }, { domain, viewer }) => findKey(domain, viewer, key),
  }),
)

builder.queryField('jobByIdempotencyKey', (t) =>
  t.field({
    type: JobRef,
    nullable: true,
    description: 'The job that your key stands for; null: as for `idempotencyKey`.',
    args: { key: t.arg.string({ required: true, description: 'The key.' }) },
    async resolve(_root, { key }, { domain, viewer, load }) {
      const found = await findKey(domain, viewer, key)
      return found && load.job.load(found.jobId)
    },
  }),
)
