import { type JobEventType, jobEventTypes } from '../jobs/job-change.ts'
import { type JobState, jobStates } from '../state.ts'

/** Types of the events that webhooks send. */

const stateTypes = jobStates.map((state) => `job.${state.toLowerCase()}`)
const otherTypes = jobEventTypes.filter((type) => type !== 'STATE_CHANGED').map((type) => `job.${type.toLowerCase()}`)

const conditionTypes = ['condition.began', 'condition.over'] as const

/** Endpoints of an installation. */
export const webhooksMax = 20

/** Types that an endpoint may choose; `webhook.test` is sent on request only. */
export const webhookEventTypes: readonly string[] = [...new Set([...otherTypes, ...stateTypes, ...conditionTypes])]
export const testEventType = 'webhook.test'

/** A change of the state is named after the new state; another change after its kind. */
export const toWebhookEventType = (type: JobEventType, to: JobState | null): string =>
  `job.${(type === 'STATE_CHANGED' && to !== null ? to : type).toLowerCase()}`

export const toConditionEventType = (kind: 'BEGAN' | 'OVER'): (typeof conditionTypes)[number] =>
  kind === 'BEGAN' ? 'condition.began' : 'condition.over'
