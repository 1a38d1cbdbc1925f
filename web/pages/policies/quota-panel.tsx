import { Link } from '@tanstack/react-router'
import { describeScope, formatAmount, quotaActions, quotaTypes } from '../../features/policies/quota-texts.ts'
import { useCurrency } from '../../features/policies/use-currency.ts'
import { type QuotaItemFragment, RemoveQuotaDocument } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { useResource } from '../../ground/resource.ts'
import { useMay } from '../../ground/use-may.ts'
import { Button, Buttons } from '../../parts/button.tsx'
import { confirmChange } from '../../parts/confirm-change.ts'
import { Facts } from '../../parts/facts.tsx'
import { ObjectLink } from '../../parts/object-link.tsx'
import { ObjectPanel, type PanelCallbacks } from '../../parts/object-panel.tsx'
import { Empty } from '../../parts/page-states.tsx'
import { Time } from '../../parts/time.tsx'
import { UseBar } from '../../parts/use-bar.tsx'
import styles from './policies.module.css'
import { QuotaForm, readQuota } from './quota-form.tsx'
import { readQuotaUse } from './quota-use.ts'

const everyMs = 10_000
const nearestMax = 8

export function QuotaPanel({ id, ...ends }: PanelCallbacks & { id: string }) {
  const may = useMay()
  const currency = useCurrency()
  const found = useResource(`quota ${id}`, (signal) => readQuota(id, signal), { everyMs })
  return (
    <ObjectPanel
      of={found}
      title={({ type, scope }) => `${quotaTypes[type]} of ${describeScope(scope)}`}
      noun="Quota"
      gone={<Empty title="This quota does not exist">It was deleted, or it does not apply to you.</Empty>}
      form={may('QUOTA_WRITE') && ((quota, formEnds) => <QuotaForm quota={quota} {...formEnds} />)}
      {...ends}
    >
      {(quota, { deleted }) => (
        <>
          <Facts
            facts={[
              ['Of', <ScopeLink key="of" scope={quota.scope} />],
              ['Counts', quotaTypes[quota.type]],
              ['At most', formatAmount(quota.type, quota.limit, currency)],
              ['Beyond it', `A submission ${quotaActions[quota.action]}.`],
              ['Created', <Time key="created" at={quota.createdAt} />],
              ['Id', <code key="id">{quota.id}</code>],
            ]}
          />
          {may('JOB_VIEW_ALL') && <Nearest quota={quota} />}
          {may('QUOTA_WRITE') && (
            <Buttons>
              <Button onClick={() => confirmDelete(quota, currency, deleted)}>Delete…</Button>
            </Buttons>
          )}
        </>
      )}
    </ObjectPanel>
  )
}

function ScopeLink({ scope }: { scope: QuotaItemFragment['scope'] }) {
  const id = (scope.user ?? scope.team)?.id
  return id === undefined ? describeScope(scope) : <ObjectLink id={id}>{describeScope(scope)}</ObjectLink>
}

/** Shows which users or teams are nearest to the limit. */
function Nearest({ quota }: { quota: QuotaItemFragment }) {
  const { value } = useResource(`use ${quota.id}`, (signal) => readQuotaUse(quota, signal), { everyMs })
  if (!value) return null
  const shown = [...value].toSorted(([, one], [, other]) => other - one).slice(0, nearestMax)
  return (
    <section className={styles.nearest} aria-label="Nearest to the limit">
      <h3>Nearest to the limit</h3>
      <Facts
        facts={shown.map(([name, used]) => [
          name,
          <span key={name} className={styles.row}>
            <UseBar label={name} used={used} limit={quota.limit} />
            {quota.scope.kind !== 'TEAM' && (
              <Link to="/jobs" search={quota.scope.kind === 'ACCOUNT' ? { account: name } : { user: name }}>
                jobs
              </Link>
            )}
          </span>,
        ])}
      />
    </section>
  )
}

function confirmDelete(quota: QuotaItemFragment, currency: string | null, onDone: () => void): void {
  confirmChange({
    title: `Delete the quota of ${describeScope(quota.scope)}?`,
    effect: `${quotaTypes[quota.type]} beyond ${formatAmount(quota.type, quota.limit, currency)} are no longer held back by it, from the next submission on. Jobs that wait for an approval because of it keep waiting.`,
    command: `berth quota rm ${quota.id}`,
    confirmText: 'Delete quota',
    change: async () => {
      const input = { quotaId: quota.id, expectedVersion: quota.version }
      return (await client.request(RemoveQuotaDocument, { input }, { attempts: 4 })).deleteQuota
    },
    toast: 'Deleted the quota',
    onDone,
  })
}
