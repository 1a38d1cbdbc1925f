import { requireField } from '@berth-jobs/berth/client'
import { Link } from '@tanstack/react-router'
import type { ShareRow } from '../../features/machines/account-shares.ts'
import { findScale, ShareBar, useFairShares } from '../../features/machines/fair-shares.tsx'
import { describeCode } from '../../features/machines/pending-reasons.ts'
import { type OverviewQuery, PoolHistoryDocument } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { useResource } from '../../ground/resource.ts'
import { serverNowMs } from '../../ground/server-clock.ts'
import { formatBytes, formatCount, formatDuration, formatTenth } from '../../parts/format.ts'
import { GpuModels } from './gpu-models.tsx'
import { type HistoryPoint, PoolHistory } from './pool-history.tsx'
import styles from './pools.module.css'

type PoolFacts = OverviewQuery['pools']['nodes'][number]

const dayMs = 86_400_000
const historyMs = 60_000
const pointsMax = 1_000
const stepSeconds = 600

/** Shows for each pool what is in use, why jobs wait, and the last 24 hours. */
export function Pools({ pools }: { pools: readonly PoolFacts[] }) {
  const perDay = dayMs / 1_000 / stepSeconds
  const bucketSeconds = stepSeconds * Math.ceil((pools.length * (perDay + 1)) / pointsMax)
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
        {pools
          .toSorted((a, b) => b.capacity.gpu - a.capacity.gpu)
          .map((pool) => (
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

interface PoolProps {
  pool: PoolFacts
  /** The last 24 hours; undefined: not read yet. */
  history: readonly HistoryPoint[] | undefined
  bucketSeconds: number
}

function Pool({ pool, history, bucketSeconds }: PoolProps) {
  const { name, workload, capacity, used, leader, paused, policy } = pool
  return (
    <article className={styles.pool} aria-label={name}>
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
          {workload.running === 0 ? 'nothing runs' : `${formatCount(workload.running)} running`}
        </Link>
      </header>
      <GpuModels pool={pool} />
      <Strip label="Cores" used={used.cpu} all={capacity.cpu} format={formatTenth} />
      <Strip label="Memory" used={used.memoryBytes} all={capacity.memoryBytes} format={formatBytes} />
      <Waits pool={name} workload={workload} />
      {policy === 'FAIR_SHARE' && <PoolShares pool={name} />}
      {history === undefined && <div className={styles.room} />}
      {history && history.length > 1 && (
        <PoolHistory points={history} hasGpus={capacity.gpu > 0} bucketSeconds={bucketSeconds} />
      )}
    </article>
  )
}

const Waits = ({ pool, workload }: { pool: string; workload: PoolFacts['workload'] }) => (
  <p className={styles.waits}>
    {workload.depth + workload.blocked === 0 ? (
      'nothing waits'
    ) : (
      <Link to="/jobs" search={{ pool, state: 'waiting' }}>
        <b>{formatCount(workload.depth + workload.blocked)}</b> wait
      </Link>
    )}
    {workload.byReason.map(({ code, count }) => (
      <Link key={code} to="/workload/$pool" params={{ pool }} search={{ reason: code }} className={styles.reason}>
        {formatCount(count)} {describeCode(code)}
      </Link>
    ))}
    {workload.avgWaitSeconds !== null && (
      <span className={styles.faint} title="Of the last 500 jobs that started within 24 hours">
        average wait {formatDuration(workload.avgWaitSeconds * 1_000)}
      </span>
    )}
  </p>
)

const accountsShown = 5

/** Each account's usage and its fair share. The account that starts next is first. */
function PoolShares({ pool }: { pool: string }) {
  const { rows } = useFairShares(pool)
  if (rows?.length === 0) return null
  if (!rows) return <div className={styles.room} />
  const shown = rows.filter(({ depth }) => depth === 0)
  const toShare = ({ heldNow, due }: ShareRow) => ({ held: heldNow, due })
  const scale = findScale(shown.map(toShare))
  return (
    <section className={styles.shares} aria-label={`Fair shares of ${pool}`}>
      <h4>Fair shares: held now{shown.some(({ due }) => due !== null) && ', of due'}</h4>
      {shown.slice(0, accountsShown).map((row) => (
        <p key={row.account}>
          <Link to="/jobs" search={{ pool, account: row.account, state: 'active,waiting' }}>
            {row.account}
          </Link>
          <ShareBar {...toShare(row)} scale={scale} />
        </p>
      ))}
      {shown.length > accountsShown && (
        <Link to="/workload/$pool" params={{ pool }} search={{ view: 'shares' }} className={styles.reason}>
          All {formatCount(shown.length)} accounts
        </Link>
      )}
    </section>
  )
}

interface StripProps {
  label: string
  used: number
  all: number
  format: (value: number) => string
}

const Strip = ({ label, used, all, format }: StripProps) => (
  <div className={styles.strip}>
    <span>{label}</span>
    <i style={{ backgroundSize: `${all > 0 ? Math.min(1, used / all) * 100 : 0}%` }} />
    <span>
      {format(used)} / {format(all)}
    </span>
  </div>
)
