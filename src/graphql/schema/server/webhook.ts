import { NotFound } from '../../../domain/errors.ts'
import {
  deadCountedMax,
  enableWebhook,
  readDelivery,
  readWebhooks,
  resendDeliveries,
  resentMax,
  testWebhook,
  type WebhookStatus,
} from '../../../domain/webhooks/administer.ts'
import { testEventType, webhookEventTypes, webhooksMax } from '../../../domain/webhooks/event-types.ts'
import type { WebhookDelivery } from '../../../platform/generated/client.ts'
import { capList } from '../../admission/argument-bounds.ts'
import { toConnection } from '../../rows/connection.ts'
import { pageCost } from '../../rows/page.ts'
import { webhookId } from '../../rows/typed-id.ts'
import { builder } from '../frame/builder.ts'
import { declareConnection } from '../frame/connection-type.ts'
import { describeValues } from '../frame/enum-values.ts'
import { exposeColumns, objectFieldOrNull } from '../frame/fields.ts'
import { declareMutation, type InputFields } from '../frame/mutation.ts'
import type { SuccessFields } from '../frame/mutation-result.ts'
import { requireRow } from '../frame/problem.ts'

const DeliveryState = builder.enumType('WebhookDeliveryState', {
  description: 'State of a delivery.',
  values: describeValues({
    PENDING: 'The delivery is sent now, or waits for its next try.',
    DELIVERED: 'The receiver accepted the delivery; it is kept for an hour.',
    DEAD: 'All ten tries failed; the delivery is kept for 30 days.',
  } satisfies Record<WebhookDelivery['state'], string>),
})

const WebhookDeliveryRef = builder.objectRef<WebhookDelivery>('WebhookDelivery')

/** Event types. Deliveries and the configuration write JOB_FAILED as job.failed. */
const WebhookEventType = builder.enumType('WebhookEventType', {
  description: 'Type of an event that webhooks send. Its body and the configuration write JOB_FAILED as job.failed.',
  values: Object.fromEntries(
    [...webhookEventTypes, testEventType].map((value) => [
      value.toUpperCase().replace('.', '_'),
      { value, description: `The event ${value}.` },
    ]),
  ),
})

builder.node(WebhookDeliveryRef, {
  description: 'One event for one webhook.',
  id: {
    resolve: ({ id }) => id,
    description: 'Global id, for `node`: the header `webhook-id`, the same in each try, msg_…',
  },
  loadMany: (ids, { load, viewer }) =>
    Promise.all(ids.map((id) => (viewer.permissions.has('webhook.write') ? load.delivery.load(id) : null))),
  fields: (t) => ({
    ...exposeColumns(t, {
      tries: ['Int', 'Tries so far, at most 10.'],
      error: ['String?', 'Why the last try failed; null: no try failed, or the delivery was accepted.'],
      body: ['String', 'The body as it is sent: JSON, at most 20 kB.'],
      createdAt: ['DateTime', 'When the delivery was written.'],
      finishedAt: ['DateTime?', 'When the delivery was accepted, or its last try failed; null: it is PENDING.'],
    }),
    eventType: t.expose('type', { type: WebhookEventType, description: 'What happened.' }),
    job: objectFieldOrNull(t, 'jobId', 'The job; null: it was deleted, or the event has no job.'),
    state: t.expose('state', { type: DeliveryState, description: 'Whether the delivery is still to be sent.' }),
    httpStatus: t.exposeInt('status', {
      nullable: true,
      description: 'HTTP status of the last response; null: the receiver sent no response.',
    }),
    nextTryAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the delivery is tried next, or again if its server dies; null: it is not PENDING.',
      resolve: ({ state, dueAt }) => (state === 'PENDING' ? dueAt : null),
    }),
  }),
})

const WebhookDeliveryConnection = declareConnection('WebhookDelivery', WebhookDeliveryRef)

const WebhookRef = builder.objectRef<WebhookStatus>('Webhook')

builder.node(WebhookRef, {
  description: 'An endpoint of the configuration that gets events of jobs. Its URL and its secrets are not shown.',
  id: { resolve: ({ name }) => webhookId(name), description: 'Global id, for `node`: webhook_<name>' },
  async loadMany(ids, { domain, viewer }) {
    const known = viewer.permissions.has('webhook.write') ? await readWebhooks(domain, viewer, null) : []
    return ids.map((id) => known.find(({ name }) => webhookId(name) === id) ?? null)
  },
  fields: (t) => ({
    ...exposeColumns(t, {
      name: ['String', 'Name in the configuration.'],
      target: ['String', 'Scheme, host and port of the URL.'],
      disabledAt: [
        'DateTime?',
        'When the receiver ended the webhook with HTTP status 410; null: the webhook is enabled.',
      ],
      disabledReason: ['String?', 'Why the webhook is disabled; null: it is enabled.'],
      createdAt: ['DateTime', 'When the configuration first had it.'],
      unread: ['Int', 'Newest events for which no delivery is written yet; some of them may not match the filter.'],
      pending: ['Int', 'Deliveries that are to be sent.'],
      pendingSince: ['DateTime?', 'When the oldest pending delivery was written; null: none is pending.'],
      dead: ['Int', `Dead deliveries of the last 30 days, counted up to ${deadCountedMax.toLocaleString('en-US')}.`],
    }),
    eventTypes: t.expose('events', {
      type: [WebhookEventType],
      description: 'Types of the events that are sent; empty: all types.',
    }),
    filter: t.field({
      type: 'JSONObject',
      description: 'The filter of jobs in the configuration; {}: all jobs.',
      resolve: ({ filter }) => filter as Record<string, unknown>,
    }),
    deliveries: t.field({
      type: WebhookDeliveryConnection,
      description: 'Deliveries in one state: pending ones by their next try, others with the newest first.',
      args: {
        ...t.arg.connectionArgs(),
        state: t.arg({ type: DeliveryState, required: true, description: 'The state.' }),
      },
      complexity: pageCost,
      resolve: async ({ name }, { state, ...args }, { load }) =>
        toConnection(await load.deliveriesOfWebhook[state].load(name, args), (ids) => load.delivery.loadMany(ids)),
    }),
  }),
})

builder.queryFields((t) => ({
  webhooks: t.field({
    type: [WebhookRef],
    description: `The webhooks of the configuration, by name. At most ${webhooksMax}.`,
    args: { name: t.arg.string({ description: 'Only the webhook with this name.' }) },
    complexity: ({ name }) => ({ field: 1, multiplier: name == null ? webhooksMax : 1 }),
    resolve: (_root, { name }, { domain, viewer }) => readWebhooks(domain, viewer, name ?? null),
  }),
}))

const nameField = (t: InputFields) => ({ webhook: t.string({ required: true, description: 'Name of the webhook.' }) })

declareMutation('testWebhook', {
  description: 'Sends an event of the type webhook.test to a webhook, signed and repeated like any other event.',
  input: { argumentDescription: 'The webhook.', description: 'The webhook to test.', fields: nameField },
  success: {
    description: 'A test event is sent.',
    fields: (t: SuccessFields) => ({
      delivery: t.field({
        type: WebhookDeliveryRef,
        description: 'The delivery of the test event. Read it again to see its outcome.',
        resolve: ({ id }, _args, { domain, viewer }) => requireRow(readDelivery(domain, viewer, id)),
      }),
    }),
  },
  problems: [NotFound],
  resolve: ({ webhook }, { domain, viewer }) => testWebhook(domain, viewer, webhook),
})

declareMutation('resendWebhookDeliveries', {
  description: 'Sends deliveries again now, each under its old id and with ten new tries.',
  input: {
    argumentDescription: 'The deliveries.',
    description: 'The deliveries to send again.',
    fields: (t) => ({
      ...nameField(t),
      deliveryIds: t.idList(
        capList(resentMax, 'Ids of the deliveries; omitted: all that are pending, then the oldest dead ones'),
      ),
    }),
  },
  success: {
    description: 'The deliveries are sent again.',
    fields: (t: SuccessFields<{ count: number }>) => ({
      ...exposeColumns(t, { count: ['Int', `Number of deliveries, at most ${resentMax.toLocaleString('en-US')}.`] }),
    }),
  },
  problems: [NotFound],
  resolve: (input, { domain, viewer }) => resendDeliveries(domain, viewer, input),
})

declareMutation('enableWebhook', {
  description:
    'Enables a webhook that its receiver ended with HTTP status 410. It gets the events since then that retention kept.',
  input: { argumentDescription: 'The webhook.', description: 'The webhook to enable.', fields: nameField },
  success: {
    description: 'The webhook is enabled.',
    fields: (t: SuccessFields<{ name: string }>) => ({
      webhook: t.field({
        type: WebhookRef,
        description: 'The webhook as it is now.',
        resolve: ({ name }, _args, { domain, viewer }) =>
          requireRow(readWebhooks(domain, viewer, name).then(([webhook]) => webhook ?? null)),
      }),
    }),
  },
  problems: [NotFound],
  refusesInput: false,
  resolve: ({ webhook }, { domain, viewer }) => enableWebhook(domain, viewer, webhook),
})
