import { Link } from '@tanstack/react-router'
import { describeCondition } from '../../features/policies/conditions.ts'
import { RequesterFactsDocument, type RuleItemFragment } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { useResource } from '../../ground/resource.ts'
import { serverNowMs } from '../../ground/server-clock.ts'
import { formatCount, plural } from '../../parts/format.ts'
import { nameJob } from '../../parts/server-text.ts'
import styles from './approval-panel.module.css'
import type { ApprovalRow } from './approval-row.ts'
import { Ending } from './approvals-table.tsx'

const weekMs = 604_800_000

/** Shows the requester's jobs, and the decisions about earlier requests. */
export function RequesterFacts({ approval }: { approval: ApprovalRow }) {
  const { id: user, name } = approval.requestedBy
  const { value } = useResource(`requester ${user}`, (signal) => {
    const since = new Date(serverNowMs() - weekMs).toISOString()
    return client.request(RequesterFactsDocument, { user, since }, { signal })
  })
  if (!value) return null
  const count = (rows: readonly { key: string | null; count: number }[], ...states: readonly string[]) =>
    rows
      .filter(({ key }) => states.length === 0 || states.includes(key ?? ''))
      .reduce((sum, each) => sum + each.count, 0)
  const { now, lately, approvals } = value
  const earlier = approvals.nodes.filter(({ id }) => id !== approval.id).slice(0, 5)
  return (
    <section className={styles.part}>
      <h3>{approval.requestedBy.displayName ?? name}</h3>
      <p>
        <Link to="/jobs" search={{ user: name, state: 'active' }}>
          {formatCount(count(now.rows, 'STARTING', 'RUNNING', 'CANCELLING'))} running
        </Link>
        ,{' '}
        <Link to="/jobs" search={{ user: name, state: 'waiting' }}>
          {formatCount(count(now.rows, 'QUEUED', 'BLOCKED'))} waiting
        </Link>
        ; in 7 days {plural(count(lately.rows), 'job')}, {formatCount(count(lately.rows, 'FAILED'))} failed
      </p>
      {earlier.length > 0 && (
        <ul className={styles.earlier}>
          {earlier.map((row) => (
            <li key={row.id}>
              <Link to="/jobs/$id" params={{ id: row.job.id }}>
                {nameJob(row.job)}
              </Link>
              <span>
                <Ending row={row} />
                {row.comment && `: ${row.comment}`}
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

/** The approval rule that blocks the job. */
export const RuleFacts = ({
  rule: { name, condition, exemptLevels },
  currency,
}: {
  rule: RuleItemFragment
  currency: string | null
}) => (
  <section className={styles.part}>
    <h3>Rule {name}</h3>
    <p>
      A job that {describeCondition(condition, currency)} needs an approval
      {exemptLevels.length > 0 && `, except of the level ${exemptLevels.join(', ').toLowerCase()}`}.
    </p>
  </section>
)
