import { Link } from '@tanstack/react-router'
import { type ApprovalConditionInput, PreviewRuleDocument, type UserLevel } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { useResource } from '../../ground/resource.ts'
import { useSettled } from '../../ground/settled.ts'
import { plural } from '../../parts/format.ts'
import { isRefused } from '../../parts/refusal.ts'
import { formatServerText, nameJob } from '../../parts/server-text.ts'
import { StateGlyph } from '../../parts/state-glyph.tsx'
import styles from './policies.module.css'

const jobsShownMax = 10

interface RulePreviewProps {
  condition: ApprovalConditionInput
  exemptLevels: readonly UserLevel[]
}

/** Shows "Would have matched 14 of the last 100 jobs", and lists these jobs. */
export function RulePreview({ condition, exemptLevels }: RulePreviewProps) {
  const key = useSettled(JSON.stringify({ condition, exemptLevels }))
  const { value, failure } = useResource(`preview ${key}`, async (signal) => {
    const input = JSON.parse(key) as { condition: ApprovalConditionInput; exemptLevels: UserLevel[] }
    return (await client.request(PreviewRuleDocument, { input }, { signal })).previewApprovalRule
  })
  if (failure) return <p className={styles.preview}>No preview: {failure.message}</p>
  if (!value) return <p className={styles.preview}>Comparing with the last jobs…</p>
  if (isRefused(value)) return <p className={styles.preview}>No preview: {formatServerText(value.message)}</p>
  const { matchedCount, consideredCount, jobs } = value
  return (
    <section className={styles.preview} aria-label="Preview" aria-live="polite">
      <p>
        {consideredCount === 0
          ? 'There are no jobs to compare with yet.'
          : `Would have matched ${matchedCount} of the last ${plural(consideredCount, 'job')}.`}
      </p>
      {jobs.length > 0 && (
        <ul>
          {jobs.slice(0, jobsShownMax).map(({ id, name, state, user }) => (
            <li key={id}>
              <StateGlyph state={state} />
              <Link to="/jobs/$id" params={{ id }}>
                {nameJob({ id, name })}
              </Link>
              <small>{user.name}</small>
            </li>
          ))}
          {jobs.length > jobsShownMax && <li>and {jobs.length - jobsShownMax} more</li>}
        </ul>
      )}
    </section>
  )
}
