import { type ConditionRule, toMinute } from './condition.ts'

const lateMinutes = 10
const deadHours = 24

export const webhookConditions = {
  WEBHOOK_LATE: {
    severity: 'TICKET',
    meaning: `A webhook is more than ${lateMinutes} minutes behind: its receiver learns of events late.`,
    cause: 'The receiver fails, hangs or is unreachable, or no server has this webhook in its configuration.',
    remedy: 'Look at the errors of its deliveries, repair the receiver, then send the waiting deliveries at once.',
    commands: ['berth webhooks show NAME', 'berth webhooks test NAME', 'berth webhooks resend NAME'],
    forSeconds: 0,
    sql: `SELECT 'webhook ' || e.name || ': the oldest event that was not delivered is of ' || ${toMinute('least(d.since, v.since)')} AS evidence
      FROM webhook_endpoint e
        CROSS JOIN LATERAL (SELECT min(created_at) AS since FROM webhook_delivery WHERE endpoint = e.name AND state = 'PENDING') d
        LEFT JOIN LATERAL (SELECT at AS since FROM event WHERE position > e.position ORDER BY position LIMIT 1) v ON true
      WHERE e.disabled_at IS NULL AND least(d.since, v.since) < (SELECT berth_now()) - interval '${lateMinutes} minutes' ORDER BY e.name`,
  },
  WEBHOOK_DEAD: {
    severity: 'TICKET',
    meaning: `A webhook is disabled, or deliveries were given up in the last ${deadHours} hours: its receiver misses events.`,
    cause: 'The receiver returned HTTP status 410, or failed ten times within about 1.5 hours.',
    remedy: 'Repair the receiver. Then enable the webhook, and send its dead deliveries again.',
    commands: ['berth webhooks show NAME', 'berth webhooks enable NAME', 'berth webhooks resend NAME'],
    forSeconds: 0,
    sql: `SELECT 'webhook ' || e.name || CASE WHEN e.disabled_at IS NULL THEN ': the last dead delivery is of ' || ${toMinute('d.last')}
        ELSE ' is disabled since ' || ${toMinute('e.disabled_at')} || ': ' || e.disabled_reason END AS evidence
      FROM webhook_endpoint e CROSS JOIN LATERAL (
        SELECT max(finished_at) AS last FROM webhook_delivery WHERE endpoint = e.name AND state = 'DEAD'
          AND finished_at > (SELECT berth_now()) - interval '${deadHours} hours') d
      WHERE e.disabled_at IS NOT NULL OR d.last IS NOT NULL ORDER BY e.name`,
  },
} satisfies Record<string, ConditionRule>
