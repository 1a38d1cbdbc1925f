import { Link } from '@tanstack/react-router'
import { usePool } from '../../features/machines/pool-tabs.tsx'
import type { UsageBy } from '../../generated/graphql.ts'
import { type PageSearch, usePageSearch } from '../../ground/page-search.ts'
import { usePageTitle } from '../../ground/page-title.ts'
import { useResource } from '../../ground/resource.ts'
import { serverNowMs } from '../../ground/server-clock.ts'
import { useMay } from '../../ground/use-may.ts'
import { formatExact } from '../../parts/format.ts'
import { Empty, Failed, FailedInline, Loading } from '../../parts/page-states.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { readUsage, type Usage } from './read-usage.ts'
import styles from './usage.module.css'
import { UsageCharts } from './usage-charts.tsx'
import { defaultFrom, presets, readRange, type UsageRange, widenRange } from './usage-range.ts'
import { UsageTotals } from './usage-totals.tsx'

const keys: readonly UsageBy[] = ['POOL', 'ACCOUNT', 'TEAM', 'USER', 'QUEUE']
const readMs = 60_000

/** The page of usage, costs and wait times by user, team, account or pool. */
export function UsagePage() {
  usePageTitle('Usage')
  const { search } = usePageSearch()
  const pools = usePool('./usage?pool=', search.pool)
  const by = keys.find((key) => key === (search.by ?? 'account').toUpperCase())
  const range = readRange(search.from, search.to, serverNowMs())
  if (pools.state) return pools.state
  if (!by || !range)
    return (
      <Empty
        title="This is not a time or a key of the usage"
        actions={
          <Link to="/usage" className={styles.link}>
            The last 24 hours by account
          </Link>
        }
      >
        {by ? 'Times are written 24h, 7d or 2026-11-24.' : `Keys are ${keys.join(', ').toLowerCase()}.`}
      </Empty>
    )
  return <UsageOf search={search} by={by} pools={pools.all} />
}

function UsageOf({ search, by, pools }: { search: PageSearch; by: UsageBy; pools: readonly string[] }) {
  const { from, to, pool } = search
  const { change } = usePageSearch()
  const load = async (signal: AbortSignal) => {
    const range = readRange(from, to, serverNowMs())
    if (!range) throw new Error('The time of the URL is not valid')
    return { usage: await readUsage({ range, by, pool }, signal), range }
  }
  const key = JSON.stringify([from, to, by, pool])
  const { value, failure, read } = useResource(`usage ${key}`, load, { everyMs: to ? undefined : readMs })
  const zoom = (fromMs: number, toMs: number) =>
    change({ from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() })
  return (
    <>
      <Tabs
        label="Grouped by"
        tabs={keys.map((each) => {
          const word = each.toLowerCase()
          return {
            title: `By ${word}`,
            to: '/usage',
            search: { ...search, by: word === 'account' ? undefined : word },
            isShown: each === by,
          }
        })}
      />
      <Head search={search} pools={pools} />
      {failure &&
        (value ? <FailedInline failure={failure} onRetry={read} /> : <Failed failure={failure} onRetry={read} />)}
      {!value && !failure && <Loading />}
      {value && <Shown usage={value.usage} range={value.range} by={by} search={search} onZoom={zoom} />}
    </>
  )
}

function Head({ search, pools }: { search: PageSearch; pools: readonly string[] }) {
  const { change } = usePageSearch()
  const may = useMay()
  const nowMs = serverNowMs()
  const range = readRange(search.from, search.to, nowMs)
  const isPreset = !search.to && (presets as readonly string[]).includes(search.from ?? defaultFrom)
  return (
    <header className={styles.head}>
      <Tabs
        look="choice"
        label="Time"
        tabs={presets.map((each) => ({
          title: each === '365d' ? '1 year' : each.replace(/([hd])$/, ' $1'),
          to: '/usage',
          search: { ...search, from: each === defaultFrom ? undefined : each, to: undefined },
          isShown: each === (search.from ?? defaultFrom) && search.to === undefined,
        }))}
      />
      {!isPreset && range && (
        <span className={styles.range}>
          {formatExact(range.fromMs)} to {search.to ? formatExact(range.toMs) : 'now'}
          <Link to="/usage" search={{ ...search, ...widenRange(range, nowMs) }} className={styles.link}>
            Zoom out
          </Link>
        </span>
      )}
      {pools.length > 1 && (
        <label className={styles.pool}>
          Pool
          <select value={search.pool ?? ''} onChange={({ target }) => change({ pool: target.value || undefined })}>
            <option value="">all</option>
            {pools.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
      )}
      {!may('JOB_VIEW_ALL') && <span className={styles.range}>Only your own jobs count.</span>}
    </header>
  )
}

interface ShownProps {
  usage: Usage
  range: UsageRange
  by: UsageBy
  search: PageSearch
  onZoom: (fromMs: number, toMs: number) => void
}

function Shown({ usage, range, by, search, onZoom }: ShownProps) {
  if (usage.byKey.length === 0 && usage.byPool.length === 0)
    return (
      <Empty
        title="Nothing was measured in this time"
        actions={
          <Link to="/usage" search={{ ...search, from: '30d', to: undefined }} className={styles.link}>
            The last 30 days
          </Link>
        }
      >
        The server measures its pools once a minute while it runs.
      </Empty>
    )
  return (
    <div className={styles.page}>
      <UsageCharts usage={usage} by={by} pool={search.pool} onZoom={onZoom} />
      <UsageTotals usage={usage} range={range} by={by} search={search} />
    </div>
  )
}
