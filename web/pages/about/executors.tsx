import { Link } from '@tanstack/react-router'
import type { AboutServerQuery } from '../../generated/graphql.ts'
import { Empty } from '../../parts/page-states.tsx'
import { formatServerText } from '../../parts/server-text.ts'
import styles from './about.module.css'

type Executor = AboutServerQuery['system']['executors'][number]

/** Each executor of each pool, with the fields of a spec that it supports. */
export function Executors({ executors }: { executors: readonly Executor[] }) {
  if (executors.length === 0)
    return <Empty title="No executors">The configuration of the server names its pools.</Empty>
  return (
    <ul className={styles.executors}>
      {executors.map((executor) => (
        <ExecutorItem key={`${executor.pool.id} ${executor.name}`} executor={executor} />
      ))}
    </ul>
  )
}

function ExecutorItem({ executor }: { executor: Executor }) {
  const { name, pool, available, message, backendVersion, launchers, specFields } = executor
  return (
    <li>
      <p className={styles.executor}>
        <strong>{name.toLowerCase()}</strong>
        <span>
          pool{' '}
          <Link to="/workload/$pool" params={{ pool: pool.name }} className={styles.link}>
            {pool.name}
          </Link>
        </span>
        {backendVersion && <span>version {backendVersion}</span>}
        <span className={available ? styles.good : styles.trouble}>{available ? 'available' : 'unavailable'}</span>
      </p>
      {message && <p className={styles.message}>{formatServerText(message)}</p>}
      <details className={styles.fields}>
        <summary>
          {specFields.length} fields{launchers.length > 0 && `, launchers ${launchers.join(', ')}`}
        </summary>
        <p>
          {specFields.toSorted().map((field) => (
            <code key={field}>{field}</code>
          ))}
        </p>
      </details>
    </li>
  )
}
