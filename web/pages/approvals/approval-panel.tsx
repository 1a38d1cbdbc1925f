import { requireField } from '@berth-jobs/berth/client'
import { Link } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { stringify } from 'yaml'
import { toSpecInput } from '../../features/spec/spec-input.ts'
import { ApprovalPageDocument, type ApprovalPageQuery } from '../../generated/graphql.ts'
import { useKeys } from '../../ground/keys.ts'
import { useQuery } from '../../ground/resource.ts'
import { useStart } from '../../ground/server-facts.ts'
import { Button, Key } from '../../parts/button.tsx'
import { Facts } from '../../parts/facts.tsx'
import { formatMoney } from '../../parts/format.ts'
import { Empty, NotRead } from '../../parts/page-states.tsx'
import { formatServerText, nameJob } from '../../parts/server-text.ts'
import { SidePanel } from '../../parts/side-panel.tsx'
import { Time } from '../../parts/time.tsx'
import { showToast } from '../../parts/toasts.tsx'
import styles from './approval-panel.module.css'
import { type ApprovalRow, computeCostMax, countGpus, describeDecision } from './approval-row.ts'
import { decide, type Verdict } from './decide.ts'
import { RequesterFacts, RuleFacts } from './requester-facts.tsx'

type WholeApproval = Extract<NonNullable<ApprovalPageQuery['node']>, { __typename: 'Approval' }>

interface PanelProps {
  id: string
  /** The version of the job in the list. If it changes, the panel reads the request again. */
  version: number | undefined
  onClose: () => void
  onDecided: (decided: readonly ApprovalRow[]) => void
}

const readAgainMs = 15_000

/** A panel with everything needed to decide about a request. */
export function ApprovalPanel({ id, version, onClose, onDecided }: PanelProps) {
  const found = useQuery(ApprovalPageDocument, { id }, { everyMs: readAgainMs, version })
  const approval = found.value?.node?.__typename === 'Approval' ? found.value.node : null
  const title = approval ? nameJob(approval.job) : 'Request'
  return (
    <SidePanel title={title} onClose={onClose}>
      {approval && <Request approval={approval} onDecided={onDecided} />}
      {!found.value && <NotRead of={found} />}
      {!approval && found.value && (
        <Empty title="This request does not exist">Its job was deleted, or you may not see it.</Empty>
      )}
    </SidePanel>
  )
}

function Request({ approval, onDecided }: { approval: WholeApproval; onDecided: PanelProps['onDecided'] }) {
  const { job, requestedBy, requestedAt, expiresAt, requiredLevel, reason } = approval
  const { viewer } = useStart()
  const cost = computeCostMax(approval)
  const gpus = countGpus(approval)
  return (
    <>
      {approval.decidable ? (
        <DecisionForm approval={approval} onDecided={onDecided} />
      ) : (
        <p className={styles.note}>{explain(approval, viewer.user.id)}</p>
      )}
      <Facts
        facts={[
          ['Why', formatServerText(reason)],
          [
            'Who',
            <span key="who">
              <Link to="/jobs" search={{ user: requestedBy.name }}>
                {requestedBy.displayName ?? requestedBy.name}
              </Link>{' '}
              ({requestedBy.level.toLowerCase()}
              {requestedBy.teams.length > 0 && `, ${requestedBy.teams.map(({ name }) => name).join(', ')}`})
            </span>,
          ],
          [
            'Asked',
            <span key="asked">
              <Time at={requestedAt} />, expires <Time at={expiresAt} />
            </span>,
          ],
          ['May decide', `${requiredLevel.toLowerCase()} or above, not the requester`],
          [
            'Job',
            <span key="job">
              <Link to="/jobs/$id" params={{ id: job.id }}>
                {nameJob(job)}
              </Link>{' '}
              in {job.queue?.name ?? job.pool.name}, charged to {job.account}
            </span>,
          ],
          ['GPUs', gpus > 0 && gpus],
          ['Costs at most', cost ? formatMoney(cost) : 'unknown'],
          ['If approved', approval.status === 'PENDING' && describeStart(approval)],
        ]}
      />
      {approval.rule && <RuleFacts rule={approval.rule} currency={job.pool.rates?.currency ?? null} />}
      <RequesterFacts approval={approval} />
      <section className={styles.part}>
        <h3>Spec</h3>
        <pre className={styles.spec}>{stringify(toSpecInput(requireField(job.spec)), { lineWidth: 0 })}</pre>
      </section>
    </>
  )
}

function explain(approval: ApprovalRow, viewerId: string): string {
  if (approval.status !== 'PENDING') {
    const comment = approval.comment ? `: ${approval.comment}` : ''
    return `${describeDecision(approval, viewerId)}${comment}`
  }
  if (approval.requestedBy.id === viewerId) return 'This is your own request. Somebody else decides.'
  return `You may not decide this: it needs the level ${approval.requiredLevel.toLowerCase()} and the permission job.approve.`
}

/** Describes when the job would start if it needed no approval. */
function describeStart({ job }: WholeApproval): string {
  const fit = job.scheduling?.fit
  if (!fit) return 'The scheduler has not considered the job yet.'
  if (fit.freeNow) return 'Could start now: its resources are free.'
  if (!fit.couldEverFit) return `Could never start: ${formatServerText(fit.missing.join('; '))}`
  return `Would wait: ${formatServerText(fit.missing.join('; '))}`
}

/** The form that approves or rejects a request. A rejection needs a reason. */
function DecisionForm({ approval, onDecided }: { approval: WholeApproval; onDecided: PanelProps['onDecided'] }) {
  const [text, setText] = useState('')
  const [trouble, setTrouble] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const field = useRef<HTMLTextAreaElement>(null)
  const name = nameJob(approval.job)
  const run = async (verdict: Verdict) => {
    if (isBusy) return
    if (verdict === 'REJECT' && text.trim() === '') {
      setTrouble('Give a reason: the requester sees it. Then reject again, or press Ctrl Enter.')
      field.current?.focus()
      return
    }
    setBusy(true)
    setTrouble(null)
    try {
      const { decided, refused } = await decide({ verdict, rows: [approval], words: text })
      const [now] = decided
      if (now) {
        showToast(`${name}: ${describeDecision(now, '')}`)
        return onDecided(decided)
      }
      setTrouble(refused[0]?.message ?? null)
    } catch (error) {
      setTrouble(error instanceof Error ? error.message : String(error))
    }
    setBusy(false)
  }
  useKeys('Request', [
    { keys: 'a', help: 'Approve', run: () => void run('APPROVE') },
    { keys: 'r', help: 'Reject', run: () => void run('REJECT') },
    { keys: '$mod+Enter', help: 'Reject with the reason', run: () => void run('REJECT') },
  ])
  return (
    <form className={styles.decision} onSubmit={(event) => event.preventDefault()}>
      <label>
        Comment, or reason of a rejection
        <textarea
          ref={field}
          rows={2}
          maxLength={1_000}
          value={text}
          aria-invalid={trouble !== null}
          onChange={({ target }) => setText(target.value)}
        />
      </label>
      {trouble && (
        <p className={styles.trouble} role="alert">
          {trouble}
        </p>
      )}
      <div className={styles.buttons}>
        <Button look="primary" disabled={isBusy} onClick={() => void run('APPROVE')}>
          Approve
        </Button>
        <Button disabled={isBusy} onClick={() => void run('REJECT')}>
          Reject
        </Button>
        <span className={styles.keys}>
          <Key>a</Key> <Key>r</Key>
        </span>
      </div>
    </form>
  )
}
