import { NotFound } from '../../../domain/errors.ts'
import {
  createCapacityReservation,
  deleteCapacityReservation,
  nodesMax,
} from '../../../domain/machines/reservations.ts'
import { capList } from '../../admission/argument-bounds.ts'
import { capacityReservationsListing } from '../../rows/listings.ts'
import { loadNodes } from '../../rows/loaders.ts'
import { builder } from '../frame/builder.ts'
import { declareConnection } from '../frame/connection-type.ts'
import { exposeColumns, objectField } from '../frame/fields.ts'
import { declareList } from '../frame/list.ts'
import { declareMutation } from '../frame/mutation.ts'
import { deletedFields, type SuccessFields } from '../frame/mutation-result.ts'
import { CapacityReservationRef, PoolNodeRef, PoolRef } from '../frame/refs.ts'

builder.node(CapacityReservationRef, {
  description: 'Nodes reserved for the jobs of a project during a time window.',
  id: { resolve: (reservation) => reservation.id, description: 'Global id, for `node`: reservation_…' },
  loadMany: (ids, { load }) => Promise.all(ids.map((id) => load.capacityReservation.load(id))),
  fields: (t) => ({
    ...exposeColumns(t, {
      name: ['String', 'Display name, unique in the pool.'],
      project: ['String', 'Project whose jobs may use the reservation.'],
      startsAt: ['DateTime', 'Start of the window.'],
      endsAt: ['DateTime', 'End of the window.'],
      hard: ['Boolean', 'Whether the server ends jobs at the end of the window; otherwise they run to completion.'],
      nativeId: ['String?', 'Name of the reservation in the backend.'],
    }),
    pool: t.field({
      type: PoolRef,
      description: 'The pool whose nodes are reserved.',
      resolve: ({ pool: name }) => ({ name }),
    }),
    nodes: t.field({
      type: [PoolNodeRef],
      description: 'The nodes. At most 1,000.',
      resolve: ({ pool, nodes }, _args, { load }) => loadNodes(load, pool, nodes),
    }),
  }),
})

const CapacityReservationConnection = declareConnection('CapacityReservation', CapacityReservationRef)

declareList('capacityReservations', CapacityReservationConnection, {
  description: 'All capacity reservations, ordered by the start of their windows.',
  listing: capacityReservationsListing,
  loader: (load) => load.capacityReservation,
})

declareMutation('createCapacityReservation', {
  description: 'Reserves nodes. Other jobs start there only if they end before the window starts.',
  input: {
    argumentDescription: 'The reservation.',
    description: 'A new capacity reservation. Reservations of the same node must not overlap.',
    fields: (t) => ({
      name: t.string({ required: true, description: 'Display name, unique in the pool.' }),
      pool: t.string({ required: true, description: 'Name of the pool whose nodes are reserved.' }),
      project: t.string({ required: true, description: 'Project whose jobs may use the reservation.' }),
      nodeIds: t.idList({ required: true, ...capList(nodesMax, 'The nodes, 1 or more') }),
      startsAt: t.field({ type: 'DateTime', required: true, description: 'Start of the window.' }),
      endsAt: t.field({ type: 'DateTime', required: true, description: 'End of the window.' }),
      hard: t.boolean({
        defaultValue: false,
        description: 'End jobs at the end of the window; otherwise they run to completion.',
      }),
      nativeId: t.string({ description: 'Name of the reservation in the backend.' }),
    }),
  },
  success: {
    description: 'The nodes are reserved.',
    fields: (t: SuccessFields) => ({
      capacityReservation: objectField(t, 'id', 'The reservation as stored, with its id.', 'capacityReservation'),
    }),
  },
  problems: [NotFound],
  resolve: (input, { domain, viewer }) => createCapacityReservation(domain, viewer, input),
})

declareMutation('deleteCapacityReservation', {
  description: 'Deletes a reservation. Its running jobs continue; its waiting jobs wait until they are cancelled.',
  input: {
    argumentDescription: 'The reservation.',
    description: 'The reservation to delete.',
    fields: (t) => ({ capacityReservationId: t.id({ required: true, description: 'The reservation to delete.' }) }),
  },
  success: { description: 'The reservation was deleted.', fields: deletedFields },
  problems: [NotFound],
  refusesInput: false,
  resolve: ({ capacityReservationId: id }, { domain, viewer }) => deleteCapacityReservation(domain, viewer, { id }),
})
