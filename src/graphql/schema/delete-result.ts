import type { ObjectFieldBuilder } from '@pothos/core'
import { Forbidden, InvalidInput, NotFound } from '../../domain/errors.ts'
import { Unavailable } from '../../platform/tx.ts'
import { builder } from './builder.ts'

type Fields = ObjectFieldBuilder<PothosSchemaTypes.ExtendDefaultTypes<typeof builder.$inferSchemaTypes>, { id: string }>

/** A cache would take `id` for the identity of the result and merge it with the deleted object. */
export const deletedFields = (t: Fields) => ({
  deletedId: t.exposeID('id', { description: 'Id of the deleted object.' }),
  id: t.exposeID('id', {
    description: 'Id of the deleted object.',
    deprecationReason: 'Use `deletedId`; caches take `id` for the object itself. `id` stays until 2028-01-01.',
  }),
})

const DeleteSuccess = builder.objectRef<{ id: string }>('DeleteSuccess').implement({
  description: 'The object was deleted. Every mutation that deletes an object other than a job returns this type.',
  fields: deletedFields,
})

export const DeleteResult = builder.errorUnion('DeleteResult', {
  description: 'Result of a deletion.',
  types: [DeleteSuccess, InvalidInput, NotFound, Forbidden, Unavailable],
  resolveType: () => DeleteSuccess,
})
