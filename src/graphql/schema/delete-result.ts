import { Forbidden, InvalidInput, NotFound } from '../../domain/errors.ts'
import { Unavailable } from '../../platform/tx.ts'
import { builder } from '../builder.ts'

/** The answer of every mutation that removes something, except of a job. */
const DeleteSuccess = builder.objectRef<{ id: string }>('DeleteSuccess').implement({
  description: 'The object was deleted.',
  fields: (t) => ({ id: t.exposeID('id', { description: 'Id of the deleted object.' }) }),
})

export const DeleteResult = builder.errorUnion('DeleteResult', {
  description: 'Result of a deletion.',
  types: [DeleteSuccess, InvalidInput, NotFound, Forbidden, Unavailable],
  resolveType: () => DeleteSuccess,
})
