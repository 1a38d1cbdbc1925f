import { Forbidden, InvalidInput, NotFound } from '../../domain/errors.ts'
import { createCapacityReservation, deleteCapacityReservation, nodesMax } from '../../domain/machines/reservations.ts'
import { Unavailable } from '../../platform/tx.ts'
import { atMost } from '../bounds.ts'
import { builder } from '../builder.ts'
import { toConnection } from '../connection.ts'
import { connectionType } from '../connection-type.ts'
import { readPages, requestPage } from '../keyset.ts'
import { capacityReservationsListing } from '../listings.ts'
import { pageCost } from '../page.ts'
import { CapacityReservationRef } from '../refs.ts'
import { DeleteResult } from './delete-result.ts'
import { seen } from './problem.ts'

/** Nodes for a project in a window of time. */
builder.node(CapacityReservationRef, {
  description: 'Nodes for the jobs of a project in a window of time.',
  id: { resolve: (reservation) => reservation.id, description: 'reservation_…' },
  loadMany: (ids, { load }) => Promise.all(ids.map((id) => load.capacityReservation.load(id))),
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name to show, unique in its pool.' }),
    pool: t.exposeString('pool', { description: 'The pool.' }),
    project: t.exposeString('project', { description: 'Whose jobs may use it.' }),
    nodes: t.exposeStringList('nodes', { description: 'Names of the nodes.' }),
    startsAt: t.expose('startsAt', { type: 'DateTime', description: 'Beginning of the window.' }),
    endsAt: t.expose('endsAt', { type: 'DateTime', description: 'End of the window.' }),
    hard: t.exposeBoolean('hard', { description: 'Whether its jobs are ended with it; else they finish.' }),
    nativeId: t.exposeString('nativeId', { nullable: true, description: "The backend's name of it." }),
  }),
})

const CapacityReservationConnection = connectionType('CapacityReservation', CapacityReservationRef)

builder.queryField('capacityReservations', (t) =>
  t.field({
    type: CapacityReservationConnection,
    description: 'All capacity reservations, by the beginning of their windows.',
    args: t.arg.connectionArgs(),
    complexity: pageCost,
    async resolve(_root, args, { domain: { db }, load }) {
      const listing = capacityReservationsListing
      const page = requestPage(listing, null, args)
      const query = { listing, where: () => 'TRUE', parents: [''], filterOf: () => null, page }
      return toConnection((await readPages(db.sql, query)).get(''), (ids) => load.capacityReservation.loadMany(ids))
    },
  }),
)

const CreateCapacityReservationInput = builder.inputType('CreateCapacityReservationInput', {
  description: 'Nodes for a project in a window of time. A node is in one reservation at a time.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'Name to show, unique in its pool.' }),
    pool: t.string({ required: true, description: 'The pool.' }),
    project: t.string({ required: true, description: 'Whose jobs may use it.' }),
    nodes: t.stringList({ required: true, ...atMost(nodesMax, 'Names of the nodes, at least 1') }),
    startsAt: t.field({ type: 'DateTime', required: true, description: 'Beginning of the window.' }),
    endsAt: t.field({ type: 'DateTime', required: true, description: 'End of the window.' }),
    hard: t.boolean({ defaultValue: false, description: 'End its jobs with it; else they finish.' }),
    nativeId: t.string({ description: "The backend's name of it." }),
  }),
})

const DeleteCapacityReservationInput = builder.inputType('DeleteCapacityReservationInput', {
  description: 'Which reservation is to go.',
  fields: (t) => ({ id: t.id({ required: true, description: 'The reservation.' }) }),
})

const CreateSuccess = builder.objectRef<{ id: string }>('CreateCapacityReservationSuccess').implement({
  description: 'The nodes are kept for it.',
  fields: (t) => ({
    capacityReservation: t.field({
      type: CapacityReservationRef,
      description: 'The reservation.',
      resolve: ({ id }, _args, { load }) => seen(load.capacityReservation.load(id)),
    }),
  }),
})

const CreateResult = builder.errorUnion('CreateCapacityReservationResult', {
  description: 'What became of a new reservation.',
  types: [CreateSuccess, InvalidInput, NotFound, Forbidden, Unavailable],
  resolveType: () => CreateSuccess,
})

builder.mutationFields((t) => ({
  createCapacityReservation: t.field({
    type: CreateResult,
    description: 'Reserves nodes. Jobs of others start there only if they end before the window begins.',
    args: { input: t.arg({ type: CreateCapacityReservationInput, required: true, description: 'Which.' }) },
    resolve: (_root, { input }, { domain, viewer }) => createCapacityReservation(domain, viewer, input),
  }),
  deleteCapacityReservation: t.field({
    type: DeleteResult,
    description:
      'Removes a reservation. Its jobs that run go on; those that wait say so and wait until somebody cancels them.',
    args: { input: t.arg({ type: DeleteCapacityReservationInput, required: true, description: 'Which.' }) },
    resolve: (_root, { input }, { domain, viewer }) => deleteCapacityReservation(domain, viewer, input),
  }),
}))
