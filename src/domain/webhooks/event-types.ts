import { type JobEventType, jobEventTypes } from '../jobs/job-change.ts'
import { type JobState, jobStates } from '../state.ts'

/** Types of the events that webhooks send. */

const stateTypes = jobStates.map((state) => `job.${state.toLowerCase()}`)
const otherTypes = jobEventTypes.filter((type) => type !== 'STATE_CHANGED').map((type) => `job.${type.toLowerCase()}`)

const conditionTypes = ['condition.began', 'condition.over'] as const

/** Maximum number of endpoints of an installation. */
export const webhooksMax = 20

/** Types that an endpoint may choose; `webhook.test` is sent on request only. */
export const webhookEventTypes: readonly string[] = [...new Set([...otherTypes, ...stateTypes, ...conditionTypes])]
export const testEventType = 'webhook.test'

/** Names a change of the state after the new state, and any other event after its type. */
export const toWebhookEventType = (type: JobEventType, to: JobState | null): string =>
  `job.${(type === 'STATE_CHANGED' && to !== null ? to : type).toLowerCase()}`

export const toConditionEventType = (kind: 'BEGAN' | 'OVER'): (typeof conditionTypes)[number] =>
  kind === 'BEGAN' ? 'condition.began' : 'condition.over'
