import { useState } from 'react'
import { ListWebhooksDocument, type WebhookItemFragment } from '../../generated/graphql.ts'
import { useQuery } from '../../ground/resource.ts'
import { Button } from '../../parts/button.tsx'
import { FailedInline } from '../../parts/page-states.tsx'
import { Table } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { showToast } from '../../parts/toasts.tsx'
import styles from './about.module.css'
import { enableWebhook, resendDeliveries, sendTestEvent } from './webhook-actions.ts'

const everyMs = 10_000

/** The webhooks of the configuration, for users who may test and enable them. */
export function Webhooks() {
  const { value, failure, read } = useQuery(ListWebhooksDocument, {}, { everyMs })
  if (!value) return failure ? <FailedInline failure={failure} onRetry={read} /> : null
  if (value.webhooks.length === 0) return <p className={styles.message}>The configuration has no webhooks.</p>
  return (
    <Table
      label="Webhooks"
      rows={value.webhooks}
      getKey={({ id }) => id}
      columns={[
        { title: 'Name', cell: ({ name }) => name },
        { title: 'Target', isSecondary: true, cell: ({ target }) => target },
        { title: 'State', cell: (webhook) => <State webhook={webhook} /> },
        { title: 'Pending', isNumber: true, cell: ({ pending, unread }) => pending + unread },
        {
          title: 'Dead',
          isNumber: true,
          cell: ({ dead }) => <span className={dead > 0 ? styles.trouble : undefined}>{dead}</span>,
        },
        { title: 'Actions', cell: (webhook) => <Actions webhook={webhook} onDone={read} /> },
      ]}
    />
  )
}

function State({ webhook: { disabledAt, disabledReason, pendingSince } }: { webhook: WebhookItemFragment }) {
  if (disabledAt !== null)
    return (
      <span className={styles.trouble}>
        disabled <Time at={disabledAt} />: {disabledReason}
      </span>
    )
  return pendingSince === null ? (
    'enabled'
  ) : (
    <>
      waiting since <Time at={pendingSince} />
    </>
  )
}

function Actions({ webhook, onDone }: { webhook: WebhookItemFragment; onDone: () => void }) {
  const [isBusy, setBusy] = useState(false)
  const run = async (action: (name: string) => Promise<string>) => {
    setBusy(true)
    try {
      showToast(await action(webhook.name))
    } catch (error) {
      showToast(error instanceof Error ? error.message : String(error), { isTrouble: true })
    }
    setBusy(false)
    onDone()
  }
  const { name, disabledAt, dead, pending } = webhook
  return (
    <span className={styles.actions}>
      {disabledAt !== null ? (
        <Button disabled={isBusy} aria-label={`Enable ${name}`} onClick={() => void run(enableWebhook)}>
          Enable
        </Button>
      ) : (
        <Button disabled={isBusy} aria-label={`Test ${name}`} onClick={() => void run(sendTestEvent)}>
          Test
        </Button>
      )}
      {dead + pending > 0 && (
        <Button disabled={isBusy} aria-label={`Resend ${name}`} onClick={() => void run(resendDeliveries)}>
          Resend
        </Button>
      )}
    </span>
  )
}
