import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { type QuotaItemFragment, RemoveQuotaDocument } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { openLayer } from '../../ground/layer-store.ts'
import { useResource } from '../../ground/resource.ts'
import { useMay } from '../../ground/use-may.ts'
import { Button } from '../../parts/button.tsx'
import { Facts } from '../../parts/facts.tsx'
import { ObjectLink } from '../../parts/object-link.tsx'
import { Empty, Failed, Loading } from '../../parts/page-states.tsx'
import { isRefused } from '../../parts/refusal.ts'
import { SidePanel } from '../../parts/side-panel.tsx'
import { Time } from '../../parts/time.tsx'
import { showToast } from '../../parts/toasts.tsx'
import { UseBar } from '../../parts/use-bar.tsx'
import styles from './policies.module.css'
import { QuotaForm } from './quota-form.tsx'
import { describeScope, formatAmount, quotaActions, quotaTypes } from './quota-texts.ts'
import { readQuotaUse } from './quota-use.ts'
import { readQuota } from './read-policies.ts'

const everyMs = 10_000
const nearestMax = 8

interface QuotaPanelProps {
  id: string
  onClose: () => void
  onChange: () => void
}

export function QuotaPanel({ id, onClose, onChange }: QuotaPanelProps) {
  const may = useMay()
  const [isEdited, setEdited] = useState(false)
  const { value: quota, failure, read } = useResource(`quota ${id}`, (signal) => readQuota(id, signal), { everyMs })
  const saved = () => {
    setEdited(false)
    read()
    onChange()
  }
  const deleted = () => {
    onChange()
    onClose()
  }
  const isShown = quota && !isEdited
  return (
    <SidePanel
      title={quota ? `${quotaTypes[quota.type]} of ${describeScope(quota.scope)}` : 'Quota'}
      onClose={onClose}
      actions={isShown && may('QUOTA_WRITE') && <Button onClick={() => setEdited(true)}>Edit</Button>}
    >
      {quota === undefined && (failure ? <Failed failure={failure} onRetry={read} /> : <Loading />)}
      {quota === null && <Empty title="This quota does not exist">It was deleted, or it does not apply to you.</Empty>}
      {quota && isEdited && <QuotaForm quota={quota} onCancel={() => setEdited(false)} onDone={saved} />}
      {isShown && (
        <Facts
          facts={[
            ['Of', <ScopeLink key="of" scope={quota.scope} />],
            ['Counts', quotaTypes[quota.type]],
            ['At most', formatAmount(quota.limit)],
            ['Beyond it', `A submission ${quotaActions[quota.action]}.`],
            ['Created', <Time key="created" at={quota.createdAt} />],
            ['Id', <code key="id">{quota.id}</code>],
          ]}
        />
      )}
      {isShown && may('JOB_VIEW_ALL') && <Nearest quota={quota} />}
      {isShown && may('QUOTA_WRITE') && (
        <div className={styles.buttons}>
          <Button onClick={() => confirmDelete(quota, deleted)}>Delete…</Button>
        </div>
      )}
    </SidePanel>
  )
}

/** Leads to the user or team. */
function ScopeLink({ scope }: { scope: QuotaItemFragment['scope'] }) {
  const id = (scope.user ?? scope.team)?.id
  return id === undefined ? describeScope(scope) : <ObjectLink id={id}>{describeScope(scope)}</ObjectLink>
}

/** Who is nearest to the limit. */
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
            <UseBar label={name} used={used} limit={quota.limit} format={formatAmount} />
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

function confirmDelete(quota: QuotaItemFragment, onDone: () => void): void {
  openLayer({
    kind: 'CONFIRM',
    confirmation: {
      title: `Delete the quota of ${describeScope(quota.scope)}?`,
      effect: `${quotaTypes[quota.type]} beyond ${formatAmount(quota.limit)} are no longer held back by it, from the next submission on. Jobs that wait for an approval because of it keep waiting.`,
      jobs: [],
      command: `berth quota rm ${quota.id}`,
      confirmText: 'Delete quota',
      keepText: 'Keep',
      hasReason: false,
      run: async () => {
        const input = { quotaId: quota.id, expectedVersion: quota.version }
        const { deleteQuota } = await client.request(RemoveQuotaDocument, { input }, { attempts: 4 })
        if (isRefused(deleteQuota)) return deleteQuota.message
        showToast('Deleted the quota')
        onDone()
        return null
      },
    },
  })
}
