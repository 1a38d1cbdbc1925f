import { Link } from '@tanstack/react-router'
import type { OverviewQuery } from '../../generated/graphql.ts'
import { otherColor, rankColors } from '../../parts/chart-series.ts'
import { formatCount } from '../../parts/format.ts'
import styles from './pools.module.css'

type PoolFacts = OverviewQuery['pools']['nodes'][number]
type Holder = PoolFacts['gpusByModel'][number]['byUser'][number]

/** Shows the GPUs of a pool by model and user. Users with the most GPUs have a colour. */
export function GpuModels({ pool: { name, gpusByModel } }: { pool: PoolFacts }) {
  const colors = rankColors(
    gpusByModel.flatMap(({ byUser }) => byUser.map(({ user, count }) => [user.id, count] as const)),
  )
  const colorOf = (holder: Holder) => colors.get(holder.user.id) ?? otherColor
  return gpusByModel.map(({ model, memoryBytes, count, allocated, byUser: holders }) => {
    const others = allocated - holders.reduce((sum, each) => sum + each.count, 0)
    return (
      <div key={`${model} ${memoryBytes}`} className={styles.model}>
        <span className={styles.modelName} title={model}>
          {model}
        </span>
        <span className={styles.modelCount}>
          <b>{formatCount(allocated)}</b> of {formatCount(count)} GPUs
        </span>
        <span className={styles.holders} aria-hidden="true">
          {holders.map((holder) => (
            <span
              key={holder.user.id}
              style={{ flexGrow: holder.count, background: colorOf(holder) }}
              title={`${holder.user.name} ${holder.count}`}
            />
          ))}
          {others > 0 && <span style={{ flexGrow: others, background: otherColor }} />}
          {count > allocated && <span style={{ flexGrow: count - allocated }} />}
        </span>
        <ul className={styles.who}>
          {holders.map((holder) => (
            <li key={holder.user.id}>
              <Link to="/jobs" search={{ pool: name, user: holder.user.name, state: 'active' }}>
                <i style={{ background: colorOf(holder) }} />
                {holder.user.name} <b>{formatCount(holder.count)}</b>
              </Link>
            </li>
          ))}
          {others > 0 && (
            <li>
              <i style={{ background: otherColor }} />
              others <b>{formatCount(others)}</b>
            </li>
          )}
          {count > allocated && <li>{formatCount(count - allocated)} free</li>}
        </ul>
      </div>
    )
  })
}
