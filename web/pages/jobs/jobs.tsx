import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { client } from '../../app/connection.ts'
import { useKeys } from '../../app/keys.ts'
import { beforeNextPicture } from '../../app/next-picture.ts'
import { usePageTitle } from '../../app/page-title.ts'
import { serverNowMs } from '../../app/server-clock.ts'
import { useStart } from '../../app/server-facts.ts'
import type { JobFilter } from '../../generated/graphql.ts'
import { Button } from '../../parts/button.tsx'
import { FilterField } from '../../parts/filter-field.tsx'
import { plural } from '../../parts/format.ts'
import { Empty, Failed, FailedInline, Loading } from '../../parts/page-states.tsx'
import { formatFilter, parseFilter, toJobFilter } from '../../rows/filter-text.ts'
import { jobStore } from '../../rows/job-store.ts'
import type { ListOrder } from '../../rows/order.ts'
import { useJobList } from '../../rows/use-job-list.ts'
import { useUserNames } from '../../rows/use-user-names.ts'
import { JobTable } from './job-table.tsx'
import styles from './jobs.module.css'
import { SelectionBar } from './selection-bar.tsx'
import { StateTabs } from './state-tabs.tsx'

const orders: Readonly<Record<string, ListOrder>> = {
  newest: { field: 'CREATED_AT', direction: 'DESC' },
  oldest: { field: 'CREATED_AT', direction: 'ASC' },
  ended: { field: 'FINISHED_AT', direction: 'DESC' },
}
const orderNames = { newest: 'Newest first', oldest: 'Oldest first', ended: 'Last ended first' } as const

export function JobsPage() {
  usePageTitle('Jobs')
  const search = useSearch({ from: '/jobs' })
  const navigate = useNavigate()
  const { viewer } = useStart()
  const field = useRef<HTMLInputElement>(null)
  const { order: orderName = 'newest', ...terms } = search
  const users = useUserNames(terms.user)
  const text = formatFilter(terms)
  // Times that count back from now move on with another filter.
  const { filter, problems } = useMemo(
    () => toJobFilter(terms, { viewerId: viewer.user.id, users: users ?? new Map(), nowMs: serverNowMs() }),
    [text, users, viewer.user.id],
  )
  const setText = (next: string) =>
    void navigate({ to: '/jobs', search: { ...parseFilter(next), order: search.order }, replace: true })
  useKeys('Jobs', [{ keys: '/', help: 'Filter', run: () => field.current?.focus() }])
  return (
    <div className={styles.page}>
      <div className={styles.bar}>
        <FilterField ref={field} text={text} problems={users === null ? [] : problems} onChange={setText} />
        <label className={styles.order}>
          <span>Order</span>
          <select
            value={orderName in orders ? orderName : 'newest'}
            onChange={({ target }) =>
              void navigate({
                to: '/jobs',
                search: { ...terms, order: target.value === 'newest' ? undefined : target.value },
              })
            }
          >
            {Object.entries(orderNames).map(([value, name]) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </select>
        </label>
      </div>
      <StateTabs filter={filter} search={search} />
      {users === null && <Loading />}
      {users !== null && problems.length > 0 && <WrongFilter />}
      {users !== null && problems.length === 0 && (
        <Rows
          key={JSON.stringify([filter, orderName])}
          filter={filter}
          order={orders[orderName]}
          hasFilter={text !== ''}
        />
      )}
    </div>
  )
}

interface RowsProps {
  filter: JobFilter
  order: ListOrder | undefined
  hasFilter: boolean
}

function Rows({ filter, order = orders['newest'] as ListOrder, hasFilter }: RowsProps) {
  const { list, view } = useJobList({ client, store: jobStore, filter, order, schedule: beforeNextPicture })
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const clear = useCallback(() => setSelected(new Set()), [])
  const show = useCallback((from: number, to: number) => list?.show(from, to), [list])
  const [isUnderPointer, setUnderPointer] = useState(false)
  const [isScrolled, setScrolled] = useState(false)
  useEffect(
    () => list?.hold(isUnderPointer || isScrolled || selected.size > 0),
    [list, isUnderPointer, isScrolled, selected.size],
  )
  if (view.isLoading) return <Loading />
  if (view.failure && view.ids.length === 0) return <Failed failure={view.failure} onRetry={() => location.reload()} />
  if (view.ids.length === 0 && view.changes === 0) return hasFilter ? <NoMatch /> : <NoJobs />
  return (
    <>
      {view.failure && <FailedInline failure={view.failure} onRetry={() => void list?.loadMore()} />}
      <JobTable
        view={view}
        selected={selected}
        onSelect={setSelected}
        onNearEnd={() => void list?.loadMore()}
        onShow={show}
        onPointer={setUnderPointer}
        onScrolled={setScrolled}
      />
      {view.changes > 0 && (
        <Button look="primary" className={styles.pill ?? ''} onClick={() => list?.apply()}>
          {plural(view.changes, 'change')}
        </Button>
      )}
      {selected.size > 0 && (
        <SelectionBar
          selected={selected}
          filter={filter}
          mayHaveMore={view.hasMore && view.ids.every((id) => selected.has(id))}
          onClear={clear}
        />
      )}
    </>
  )
}

function WrongFilter() {
  const navigate = useNavigate()
  const clear = () => void navigate({ to: '/jobs', search: {} })
  return (
    <Empty title="The filter has a mistake" actions={<Button onClick={clear}>Clear the filter</Button>}>
      The field above says which term is wrong.
    </Empty>
  )
}

function NoMatch() {
  const navigate = useNavigate()
  const clear = () => void navigate({ to: '/jobs', search: {} })
  return (
    <Empty title="No job matches" actions={<Button onClick={clear}>Clear the filter</Button>}>
      Jobs that match later appear here by themselves.
    </Empty>
  )
}

const NoJobs = () => (
  <Empty title="No jobs yet">
    Jobs of the command line, of CI and of programs appear here as they are submitted. Try{' '}
    <code>berth submit -- echo Hello</code>.
  </Empty>
)
