import { useNavigate, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useMemo } from 'react'
import { formatFilter, toJobFilter } from '../../features/jobs/filter/filter-text.ts'
import { useTeamNames, useUserNames } from '../../features/jobs/filter/use-names.ts'
import { readOrder } from '../../features/jobs/rows/order.ts'
import { loadPart } from '../../ground/load-part.ts'
import { usePageTitle } from '../../ground/page-title.ts'
import { serverNowMs } from '../../ground/server-clock.ts'
import { useStart } from '../../ground/server-facts.ts'
import { Button } from '../../parts/button.tsx'
import { Empty, Loading, NotRead } from '../../parts/page-states.tsx'
import { WithPanel } from '../../parts/side-panel.tsx'
import { JobRows } from './job-rows.tsx'
import styles from './jobs.module.css'
import { ListBar, ListOptions } from './list-bar.tsx'
import { StateTabs } from './state-tabs.tsx'
import { useStateCounts } from './use-state-counts.ts'

const Groups = lazy(async () => ({ default: (await loadPart(() => import('./groups.tsx'))).Groups }))
const Peek = lazy(async () => ({ default: (await loadPart(() => import('./peek.tsx'))).Peek }))

export function JobsPage() {
  usePageTitle('Jobs')
  const search = useSearch({ from: '/jobs' })
  const navigate = useNavigate()
  const { viewer } = useStart()
  const { order, group, peek, ...terms } = search
  const users = useUserNames(terms.user)
  const teams = useTeamNames(terms.team)
  const isKnown = users.value !== undefined && teams.value !== undefined
  const text = formatFilter(terms)
  // Relative times such as "24h" are computed again only when the filter changes.
  const { filter, problems } = useMemo(
    () =>
      toJobFilter(terms, {
        viewerId: viewer.user.id,
        users: users.value ?? new Map(),
        teams: teams.value ?? new Map(),
        nowMs: serverNowMs(),
      }),
    [text, users.value, teams.value, viewer.user.id],
  )
  const counts = useStateCounts(filter)
  const isReady = isKnown && problems.length === 0
  const showPeek = (id: string | undefined) =>
    void navigate({ to: '/jobs', search: { ...search, peek: id }, replace: true })
  return (
    <div className={styles.page}>
      <ListBar search={search} problems={isKnown ? problems : []} />
      <div className={styles.second}>
        <StateTabs counts={counts} search={search} />
        <ListOptions search={search} />
      </div>
      {!isKnown && <NotRead of={users.value ? teams : users} />}
      {isKnown && problems.length > 0 && <WrongFilter />}
      {isReady && (
        <WithPanel
          panel={
            peek && (
              <Suspense>
                <Peek key={peek} id={peek} onClose={() => showPeek(undefined)} />
              </Suspense>
            )
          }
        >
          {group ? (
            <Suspense fallback={<Loading />}>
              <Groups group={group} filter={filter} search={search} />
            </Suspense>
          ) : (
            <JobRows
              filter={filter}
              order={readOrder(order)}
              hasFilter={text !== ''}
              counts={counts}
              peekId={peek}
              onPeek={showPeek}
            />
          )}
        </WithPanel>
      )}
    </div>
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
