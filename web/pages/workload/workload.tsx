import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { isReasonCode } from '../../features/machines/pending-reasons.ts'
import { PoolTabs, usePool } from '../../features/machines/pool-tabs.tsx'
import type { LimitName } from '../../features/policies/limit-effects.ts'
import { usePageTitle } from '../../ground/page-title.ts'
import { Failed, FailedInline, Loading } from '../../parts/page-states.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { Time } from '../../parts/time.tsx'
import { defaultSpan, Forecast, spans } from './forecast.tsx'
import { Limits } from './limits.tsx'
import { Line } from './line.tsx'
import { Breakdowns, Numbers } from './panel.tsx'
import { Shares } from './shares.tsx'
import { type LineRow, useWorkload, type WorkloadPanel } from './use-workload.ts'
import styles from './workload.module.css'
import { WorkloadActions } from './workload-actions.tsx'

/** The page of a pool's running and waiting jobs. */
export function WorkloadPage() {
  const { pool: asked } = useParams({ strict: false })
  const pool = usePool('./workload/', asked)
  usePageTitle(pool.name === undefined ? 'Workload' : `Workload ${pool.name}`)
  if (pool.state) return pool.state
  return (
    <>
      <PoolTabs to="/workload/$pool" pools={pool.all} shown={pool.name} />
      <PoolWorkload key={pool.name} pool={pool.name ?? ''} />
    </>
  )
}

const views = { line: 'Line and forecast', limits: 'Limits', shares: 'Fair shares' }
type ViewName = keyof typeof views

const readView = (name: string, { pool }: WorkloadPanel): ViewName =>
  name === 'limits' || (name === 'shares' && pool.policy === 'FAIR_SHARE') ? name : 'line'

function PoolWorkload({ pool }: { pool: string }) {
  const { panel, rows, hasMore, failure, read } = useWorkload(pool)
  const { view: asked = 'line' } = useSearch({ strict: false })
  const navigate = useNavigate()
  const [editing, setEditing] = useState<LimitName | null>(null)
  if (!panel) return failure ? <Failed failure={failure} onRetry={read} /> : <Loading />
  const view = readView(asked, panel)
  const resume = () => {
    setEditing('maxConcurrent')
    void navigate({ to: '/workload/$pool', params: { pool: panel.pool.name }, search: { view: 'limits' } })
  }
  return (
    <>
      {failure && <FailedInline failure={failure} />}
      <div className={styles.page}>
        <header className={styles.actions}>
          <Notices panel={panel} />
          <WorkloadActions panel={panel} onResume={resume} />
        </header>
        <Numbers panel={panel} />
      </div>
      <ViewTabs panel={panel} view={view} />
      {view === 'line' ? (
        <LineAndForecast panel={panel} rows={rows} hasMore={hasMore} />
      ) : (
        <div className={styles.page}>
          {view === 'limits' ? (
            <Limits panel={panel} rows={rows ?? []} editing={editing} onEdit={setEditing} />
          ) : (
            <Shares pool={panel.pool.name} />
          )}
        </div>
      )}
    </>
  )
}

const ViewTabs = ({ panel: { pool }, view }: { panel: WorkloadPanel; view: ViewName }) => (
  <Tabs
    label="Parts of the workload"
    tabs={(['line', 'limits', ...(pool.policy === 'FAIR_SHARE' ? (['shares'] as const) : [])] as const).map((each) => ({
      title: views[each],
      isShown: each === view,
      to: '/workload/$pool',
      params: { pool: pool.name },
      search: each === 'line' ? {} : { view: each },
    }))}
  />
)

interface LineAndForecastProps {
  panel: WorkloadPanel
  /** The running and waiting jobs; null: not read yet. */
  rows: readonly LineRow[] | null
  hasMore: boolean
}

function LineAndForecast({ panel, rows, hasMore }: LineAndForecastProps) {
  const { span = defaultSpan, reason, rows: rowsParam } = useSearch({ strict: false })
  if (rows === null) return <Loading />
  return (
    <>
      {reason !== undefined && !isReasonCode(reason) && (
        <p className={styles.problem} role="alert">
          {reason} is not a reason: all waiting jobs are shown.
        </p>
      )}
      {span in spans || (
        <p className={styles.problem} role="alert">
          {span} is not a time of the forecast: {defaultSpan} are shown.
        </p>
      )}
      <Line
        panel={panel}
        rows={rows}
        hasMore={hasMore}
        reason={reason !== undefined && isReasonCode(reason) ? reason : undefined}
        isWhole={rowsParam === 'all'}
      />
      <Forecast panel={panel} rows={rows} span={span in spans ? span : defaultSpan} />
      <div className={styles.page}>
        <Breakdowns panel={panel} />
      </div>
    </>
  )
}

/** Shows why no job of the pool starts. */
function Notices({ panel: { pool, running, depth } }: { panel: WorkloadPanel }) {
  if (pool.paused)
    return (
      <p className={styles.notice} role="status">
        The pool is paused: its limit of running jobs is 0. {running} running, {depth} queued jobs wait for it.
      </p>
    )
  if (!pool.leader)
    return (
      <p className={styles.notice} role="status">
        No server schedules this pool now; waiting jobs do not start.
      </p>
    )
  return (
    <p className={styles.faint}>
      {pool.policy === 'FAIR_SHARE' ? 'Accounts with the smallest share first' : 'Highest priority first'}; scheduler
      active <Time at={pool.leader.renewedAt} />
    </p>
  )
}
