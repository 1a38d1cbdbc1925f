import { NotFound, QuotaExceeded } from '../../../domain/errors.ts'
import {
  countActiveSlots,
  releaseSlot,
  reserveSlot,
  type Slot,
  slotStateSql,
  slotStates,
  slotsVisibleTo,
} from '../../../domain/submission/slots.ts'
import { capList } from '../../admission/argument-bounds.ts'
import { slotsListing } from '../../rows/listings.ts'
import { builder } from '../frame/builder.ts'
import { declareConnection } from '../frame/connection-type.ts'
import { describeValues } from '../frame/enum-values.ts'
import { exposeColumns, objectField, objectFieldOrNull } from '../frame/fields.ts'
import { declareList } from '../frame/list.ts'
import { declareMutation } from '../frame/mutation.ts'
import type { SuccessFields } from '../frame/mutation-result.ts'
import { SlotReservationRef } from '../frame/refs.ts'
import { ViewerRef } from '../people/viewer.ts'

const SlotReservationState = builder.enumType('SlotReservationState', {
  description: 'State of a slot reservation.',
  values: describeValues({
    ACTIVE: 'Can be consumed; counts like a job that is not final.',
    CONSUMED: 'Consumed by a submission.',
    EXPIRED: 'Expired before it was consumed.',
    RELEASED: 'Released by its user.',
  } satisfies Record<(typeof slotStates)[number], string>),
})

builder.node(SlotReservationRef, {
  description: 'A reservation of one submission.',
  id: { resolve: (slot) => slot.id, description: 'Global id, for `node`: slot_…' },
  loadMany: (ids, { load }) => Promise.all(ids.map((id) => load.slot.load(id))),
  fields: (t) => ({
    ...exposeColumns(t, {
      createdAt: ['DateTime', 'When the reservation was created.'],
      expiresAt: ['DateTime', 'When the reservation expires.'],
    }),
    user: objectField(t, 'userId', 'The user whose limits it counts against.'),
    state: t.expose('state', { type: SlotReservationState, description: 'Current state.' }),
    job: objectFieldOrNull(t, 'jobId', 'The job that consumed the reservation; null: no job, or the job was deleted.'),
  }),
})

const SlotReservationConnection = declareConnection<Slot>('SlotReservation', SlotReservationRef)

declareList('slotReservations', SlotReservationConnection, {
  description: 'Your slot reservations, newest first; with job.view.all: those of all users.',
  args: (arg) => ({
    states: arg({
      type: [SlotReservationState],
      ...capList(slotStates.length, 'Reservations in one of these states'),
    }),
    userId: arg.id({ description: 'Reservations of this user.' }),
  }),
  listing: slotsListing,
  where: ({ states, userId }, { viewer }, bind) =>
    [
      slotsVisibleTo(viewer, 's', bind),
      ...(states ? [`${slotStateSql('s')} = ANY(${bind(states)}::text[])`] : []),
      ...(userId ? [`s.user_id = ${bind(userId)}`] : []),
    ].join(' AND '),
  cursorScope: ({ states, userId }) => ({ states, userId }),
  loader: (load) => load.slot,
})

builder.objectFields(ViewerRef, (t) => ({
  activeSlots: t.int({
    description:
      'Number of your jobs that are not final and of your active slot reservations; limited by `userMaxActive`.',
    resolve: (viewer, _args, { domain }) => countActiveSlots(domain, viewer),
  }),
}))

declareMutation('reserveSlot', {
  description:
    'Reserves a slot for one submission. It counts against `userMaxActive` until it is consumed, released or expired.',
  input: {
    argumentDescription: 'The reservation.',
    description: 'The reservation.',
    fields: (t) => ({
      ttlSeconds: t.int({ defaultValue: 300, description: 'Seconds until the reservation expires, 1 … 3,600.' }),
    }),
  },
  success: {
    description: 'The slot is reserved.',
    fields: (t) => ({
      reservation: objectField(t, 'id', 'The reservation. Pass its id to `submitJob` before it expires.', 'slot'),
    }),
  },
  problems: [QuotaExceeded],
  resolve: async (input, { domain, viewer }) => ({ id: await reserveSlot(domain, viewer, input) }),
})

declareMutation('releaseSlot', {
  description: 'Releases a slot reservation.',
  input: {
    argumentDescription: 'The reservation.',
    description: 'The reservation to release.',
    fields: (t) => ({ slotReservationId: t.id({ required: true, description: 'The reservation to give back.' }) }),
  },
  success: {
    description: 'The slot is released.',
    fields: (t: SuccessFields<{ id: string; released: boolean }>) => ({
      released: t.exposeBoolean('released', { description: 'false: the reservation was no longer active.' }),
      reservation: objectField(t, 'id', 'The reservation, which no longer counts.', 'slot'),
    }),
  },
  problems: [NotFound],
  refusesInput: false,
  resolve: ({ slotReservationId }, { domain, viewer }) => releaseSlot(domain, viewer, slotReservationId),
})
