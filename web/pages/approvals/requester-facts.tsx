import { Link } from '@tanstack/react-router'
import { client } from '../../app/connection.ts'
import { useResource } from '../../app/resource.ts'
import { serverNowMs } from '../../app/server-clock.ts'
import { ListRulesDocument, RequesterFactsDocument } from '../../generated/graphql.ts'
import { formatCount, plural } from '../../parts/format.ts'
import { describeCondition } from '../policies/conditions.ts'
import styles from './approval-panel.module.css'
import type { ApprovalRow } from './approval-row.ts'
import { Ending } from './approvals-table.tsx'

const weekMs = 604_800_000
const rulesMax = 100

/** The jobs of the requester, and the decisions about earlier requests. */
export function RequesterFacts({ approval }: { approval: ApprovalRow }) {
  const { id: user, name } = approval.requestedBy
  const { value } = useResource(user, (signal) => {
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
                {row.job.name ?? row.job.id}
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

/** The rule that holds the job back. */
export function RuleFacts({ ruleName }: { ruleName: string | null }) {
  const { value } = useResource(
    'approval rules',
    async (signal) => (await client.request(ListRulesDocument, { first: rulesMax }, { signal })).approvalRules.nodes,
    { isOff: ruleName === null },
  )
  const rule = value?.find(({ name }) => name === ruleName)
  if (ruleName === null || !value) return null
  return (
    <section className={styles.part}>
      <h3>Rule {ruleName}</h3>
      <p>
        {rule
          ? `A job that ${describeCondition(rule.condition)} needs an approval${rule.exemptLevels.length > 0 ? `, except of the level ${rule.exemptLevels.join(', ').toLowerCase()}` : ''}.`
          : 'The rule was deleted or renamed after the request.'}
      </p>
    </section>
  )
}
