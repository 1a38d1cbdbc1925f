import { requireField } from '@berth-jobs/berth/client'
import { Link } from '@tanstack/react-router'
import { type OverviewQuery, PoolHistoryDocument, type PoolHistoryQuery } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { useResource } from '../../ground/resource.ts'
import { serverNowMs } from '../../ground/server-clock.ts'
import { formatBytes, formatCount, formatDuration } from '../../parts/format.ts'
import styles from './pools.module.css'
import { Sparkline } from './sparkline.tsx'

type PoolFacts = OverviewQuery['pools']['nodes'][number]
type Point = NonNullable<PoolHistoryQuery['usage']>[number]

const dayMs = 86_400_000
const historyMs = 60_000
const pointsMax = 1_000
const halfHourSeconds = 1_800

/** Each pool: what is in use, what waits and why, and the last 24 hours. */
export function Pools({ pools }: { pools: readonly PoolFacts[] }) {
  const perDay = dayMs / 1_000 / halfHourSeconds
  const bucketSeconds = halfHourSeconds * Math.ceil((pools.length * (perDay + 1)) / pointsMax)
  const { value } = useResource(
    `pool history ${bucketSeconds}`,
    async (signal) => {
      const from = new Date(serverNowMs() - dayMs).toISOString()
      return requireField((await client.request(PoolHistoryDocument, { from, bucketSeconds }, { signal })).usage)
    },
    { everyMs: historyMs },
  )
  return (
    <section aria-label="Pools">
      <h2>Pools</h2>
      <div className={styles.pools}>
        {pools.map((pool) => (
          <Pool
            key={pool.id}
            pool={pool}
            history={value?.filter(({ key }) => key === pool.name)}
            bucketSeconds={bucketSeconds}
          />
        ))}
      </div>
    </section>
  )
}

const reasonWords: Readonly<Record<string, string>> = {
  NO_CAPACITY: 'capacity',
  USER_LIMIT: 'user limit',
  TEAM_LIMIT: 'team limit',
  GLOBAL_LIMIT: 'pool limit',
  NOT_BEFORE: 'start time',
  POOL_PAUSED: 'paused',
  APPROVAL_PENDING: 'approval',
}

const describeCode = (code: string) => reasonWords[code] ?? code.toLowerCase().replaceAll('_', ' ')

interface PoolProps {
  pool: PoolFacts
  history: readonly Point[] | undefined
  bucketSeconds: number
}

function Pool({ pool, history, bucketSeconds }: PoolProps) {
  const { name, workload, capacity, used, leader, paused } = pool
  const hasGpus = capacity.gpu > 0
  return (
    <article className={styles.pool}>
      <header>
        <h3>
          <Link to="/cluster/$pool" params={{ pool: name }}>
            {name}
          </Link>
        </h3>
        {(paused || !leader) && (
          <span className={styles.trouble}>{paused ? 'paused: starts no jobs' : 'no scheduler: starts no jobs'}</span>
        )}
        <Link to="/jobs" search={{ pool: name, state: 'active' }} className={styles.count}>
          {formatCount(workload.running)} running
        </Link>
      </header>
      {hasGpus && <Strip label="GPUs" used={used.gpu} all={capacity.gpu} format={formatCount} />}
      <Strip label="Cores" used={used.cpu} all={capacity.cpu} format={formatTenth} />
      <Strip label="Memory" used={used.memoryBytes} all={capacity.memoryBytes} format={formatBytes} />
      <p className={styles.waits}>
        {workload.depth + workload.blocked === 0 ? (
          'nothing waits'
        ) : (
          <Link to="/jobs" search={{ pool: name, state: 'waiting' }}>
            {formatCount(workload.depth + workload.blocked)} wait
          </Link>
        )}
        {workload.byReason.map(({ code, count }) => (
          <Link key={code} to="/workload/$pool" params={{ pool: name }} className={styles.reason}>
            {formatCount(count)} {describeCode(code)}
          </Link>
        ))}
        {workload.avgWaitSeconds !== null && (
          <span className={styles.faint}>average wait {formatDuration(workload.avgWaitSeconds * 1_000)}</span>
        )}
      </p>
      {history && history.length > 1 && <Sparkline points={history} hasGpus={hasGpus} bucketSeconds={bucketSeconds} />}
    </article>
  )
}

const tenth = 10
const formatTenth = (value: number) => formatCount(Math.round(value * tenth) / tenth)

interface StripProps {
  label: string
  used: number
  all: number
  format: (value: number) => string
}

const Strip = ({ label, used, all, format }: StripProps) => (
  <div className={styles.strip}>
    <span>{label}</span>
    <meter min={0} max={Math.max(all, used)} value={used} aria-label={`${label} in use`} />
    <span>
      {format(used)} / {format(all)}
    </span>
  </div>
)
