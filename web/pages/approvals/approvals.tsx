import { useState } from 'react'
import { useUserNames } from '../../features/jobs/filter/use-names.ts'
import type { ApprovalFilter } from '../../generated/graphql.ts'
import { useKeys } from '../../ground/keys.ts'
import { type PageSearch, usePageSearch } from '../../ground/page-search.ts'
import { usePageTitle } from '../../ground/page-title.ts'
import { useStart } from '../../ground/server-facts.ts'
import { Button } from '../../parts/button.tsx'
import { Empty, Failed, FailedInline, Loading, NotRead } from '../../parts/page-states.tsx'
import { WithPanel } from '../../parts/side-panel.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { ApprovalPanel } from './approval-panel.tsx'
import type { ApprovalRow } from './approval-row.ts'
import styles from './approvals.module.css'
import { ApprovalsTable } from './approvals-table.tsx'
import { confirmDecisions } from './confirm-decisions.tsx'
import type { Verdict } from './decide.ts'
import { type Approvals, useApprovals } from './use-approvals.ts'

const tabs = [
  { tab: 'pending', title: 'Pending' },
  { tab: 'decided', title: 'Decided' },
  { tab: 'mine', title: 'My requests' },
] as const

function toFilter(
  { tab = 'pending', rule, user }: PageSearch,
  users: ReadonlyMap<string, string>,
  me: string,
): ApprovalFilter {
  const requester = tab === 'mine' || user === 'me' ? me : user && (users.get(user) ?? user)
  return {
    ...(tab === 'pending' && { statuses: ['PENDING'] }),
    ...(tab === 'decided' && { statuses: ['APPROVED', 'REJECTED', 'EXPIRED', 'CANCELLED'] }),
    ...(rule && { rules: [rule] }),
    ...(requester && { requestedBy: [requester] }),
  }
}

export function ApprovalsPage() {
  usePageTitle('Approvals')
  const { search } = usePageSearch()
  const { viewer } = useStart()
  const users = useUserNames(search.user)
  if (search.tab !== undefined && !tabs.some(({ tab }) => tab === search.tab))
    return (
      <Empty title={`There is no list “${search.tab}”`} actions={<Button href="./approvals">Pending approvals</Button>}>
        The lists are pending, decided and mine.
      </Empty>
    )
  if (!users.value) return <NotRead of={users} />
  const filter = toFilter(search, users.value, viewer.user.id)
  return <ApprovalList key={JSON.stringify(filter)} filter={filter} search={search} />
}

function ApprovalList({ filter, search }: { filter: ApprovalFilter; search: PageSearch }) {
  const { change } = usePageSearch()
  const approvals = useApprovals(filter)
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const { rows, departures, total, resource } = approvals
  const { tab = 'pending', approval } = search
  const open = (id: string | undefined) => change({ approval: id }, true)
  const openAt = rows.findIndex(({ id }) => id === approval)
  const move = (step: number) => {
    const next = rows[openAt === -1 ? (step > 0 ? 0 : rows.length - 1) : openAt + step]
    if (next) open(next.id)
  }
  /** Opens the request after the one that was just decided. */
  const advance = () => {
    const next = [...rows.slice(openAt + 1), ...rows.slice(0, Math.max(0, openAt)).toReversed()]
    open(next.find((row) => row.status === 'PENDING' && !departures.has(row.id))?.id)
  }
  const toggle = (id: string) =>
    setSelected((before) =>
      before.has(id) ? new Set([...before].filter((each) => each !== id)) : new Set([...before, id]),
    )
  useKeys('Approvals', [
    { keys: 'j', help: 'Next request', run: () => move(1) },
    { keys: 'k', help: 'Previous request', run: () => move(-1) },
    { keys: 'x', help: 'Select', run: () => approval && rows[openAt]?.decidable && toggle(approval) },
  ])
  const chosen = rows.filter(({ id, status }) => selected.has(id) && status === 'PENDING')
  const confirm = (verdict: Verdict) =>
    confirmDecisions(verdict, chosen, (decided) => {
      approvals.depart(decided)
      setSelected(new Set())
      resource.read()
    })
  const panel = approval && (
    <ApprovalPanel
      key={approval}
      id={approval}
      version={rows[openAt]?.job.version}
      onClose={() => open(undefined)}
      onDecided={(decided) => {
        advance()
        approvals.depart(decided)
        resource.read()
      }}
    />
  )
  return (
    <div className={styles.page}>
      <ApprovalTabs
        search={search}
        ruleName={rows.find(({ rule }) => rule?.id === search.rule)?.rule?.name}
        count={tab === 'pending' && resource.value !== undefined ? total : undefined}
      />
      {chosen.length > 0 && <SelectionBar rows={chosen} onDecide={confirm} onClear={() => setSelected(new Set())} />}
      {resource.failure && rows.length > 0 && <FailedInline failure={resource.failure} onRetry={resource.read} />}
      <WithPanel panel={panel}>
        <Rows
          approvals={approvals}
          search={search}
          selected={selected}
          onToggle={toggle}
          onOpen={(row) => open(row.id === approval ? undefined : row.id)}
        />
      </WithPanel>
    </div>
  )
}

interface ApprovalTabsProps {
  search: PageSearch
  ruleName: string | undefined
  count: number | undefined
}

function ApprovalTabs({ search, ruleName, count }: ApprovalTabsProps) {
  const { tab = 'pending', rule, user } = search
  return (
    <Tabs
      label="Lists of approvals"
      tabs={tabs.map(({ tab: each, title }) => ({
        title,
        count: each === 'pending' ? count : undefined,
        isShown: each === tab,
        to: '/approvals',
        search: { tab: each === 'pending' ? undefined : each, rule, user },
      }))}
    >
      {(rule || user) && (
        <span className={styles.filter}>
          {[rule && `rule ${ruleName ?? rule}`, user && `from ${user}`].filter(Boolean).join(', ')}
          <Button look="quiet" href={`./approvals${tab === 'pending' ? '' : `?tab=${tab}`}`}>
            Clear filter
          </Button>
        </span>
      )}
    </Tabs>
  )
}

interface SelectionBarProps {
  rows: readonly ApprovalRow[]
  onDecide: (verdict: Verdict) => void
  onClear: () => void
}

const SelectionBar = ({ rows, onDecide, onClear }: SelectionBarProps) => (
  <div className={styles.selection} role="toolbar" aria-label="Selected requests">
    <strong>{rows.length} selected</strong>
    <Button onClick={() => onDecide('APPROVE')}>Approve…</Button>
    <Button onClick={() => onDecide('REJECT')}>Reject…</Button>
    <Button look="quiet" onClick={onClear}>
      Clear selection
    </Button>
  </div>
)

interface RowsProps {
  approvals: Approvals
  search: PageSearch
  selected: ReadonlySet<string>
  onToggle: (id: string) => void
  onOpen: (row: ApprovalRow) => void
}

function Rows({ approvals, search, selected, onToggle, onOpen }: RowsProps) {
  const { rows, departures, resource, total } = approvals
  if (rows.length > 0)
    return (
      <>
        <ApprovalsTable
          rows={rows}
          departures={departures}
          search={search}
          selected={selected}
          onToggle={onToggle}
          onOpen={onOpen}
          onHold={approvals.hold}
        />
        {total > rows.length && (
          <p className={styles.more}>
            {rows.length} of {total}. A click on a rule or a person shows fewer.
          </p>
        )}
      </>
    )
  if (resource.failure) return <Failed failure={resource.failure} onRetry={resource.read} />
  if (resource.isLoading) return <Loading />
  if (search.rule || search.user)
    return <Empty title="No request matches" actions={<Button href="./approvals">Clear filter</Button>} />
  if (search.tab === 'decided')
    return <Empty title="No decisions yet">Approved, rejected and expired requests appear here.</Empty>
  return (
    <Empty
      title={search.tab === 'mine' ? 'You have no requests' : 'Nothing waits for a decision'}
      actions={<Button href="./policies/rules">Approval rules</Button>}
    >
      Jobs that a rule or a quota holds back appear here until somebody approves or rejects them.
    </Empty>
  )
}
