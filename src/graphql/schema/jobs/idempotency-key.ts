import { findKey } from '../../../domain/submission/keys.ts'
import { builder } from '../frame/builder.ts'
import { exposeColumns, objectField } from '../frame/fields.ts'

type KeyShape = NonNullable<Awaited<ReturnType<typeof findKey>>>

const IdempotencyKeyRef = builder.objectRef<KeyShape>('IdempotencyKey').implement({
  description: 'An idempotency key and its job.',
  fields: (t) => ({
    ...exposeColumns(t, {
      key: ['String', 'The key as submitted.'],
      createdAt: ['DateTime', 'When the key was first used.'],
      expiresAt: ['DateTime', 'When the key expires. Afterwards the same key creates a new job.'],
    }),
    job: objectField(t, 'jobId', 'The job created by the first submission with this key.'),
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
