import { findKey } from '../../../domain/submission/keys.ts'
import { builder } from '../frame/builder.ts'
import { requireRow } from '../frame/problem.ts'
import { JobRef } from '../frame/refs.ts'

type KeyShape = NonNullable<Awaited<ReturnType<typeof findKey>>>

const IdempotencyKeyRef = builder.objectRef<KeyShape>('IdempotencyKey').implement({
  description: 'An idempotency key and its job.',
  fields: (t) => ({
    key: t.exposeString('key', { description: 'The key as submitted.' }),
    job: t.field({
      type: JobRef,
      description: 'The job created by the first submission with this key.',
      resolve: ({ jobId }, _args, { load }) => requireRow(load.job.load(jobId)),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the key was first used.' }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      description: 'When the key expires. Afterwards the same key creates a new job.',
    }),
  }),
})

builder.queryField('idempotencyKey', (t) =>
  t.field({
    type: IdempotencyKeyRef,
    nullable: true,
    description: 'Your idempotency key; null: never used, expired, or its job was deleted.',
    args: { key: t.arg.string({ required: true, description: 'The key.' }) },
    resolve: (_root, { key }, { domain, viewer }) => findKey(domain, viewer, key),
  }),
)
