import { Link } from '@tanstack/react-router'
import type { JobsSearch } from '../../features/jobs/filter/filter-text.ts'
import type { JobState } from '../../generated/graphql.ts'
import { formatCount } from '../../parts/format.ts'
import { StateGlyph } from '../../parts/state-glyph.tsx'
import { stateWords } from '../../parts/states.ts'
import tabStyles from '../../parts/tabs.module.css'
import styles from './state-tabs.module.css'
import { countStates, type StateCounts } from './use-state-counts.ts'

/** The states of the tabs; undefined: all states. */
const tabs: readonly (JobState | undefined)[] = [
  undefined,
  'RUNNING',
  'QUEUED',
  'BLOCKED',
  'FAILED',
  'SUCCEEDED',
  'CANCELLED',
]

/** Tabs that filter by state, with the number of jobs. They keep the other terms of the filter. */
export function StateTabs({ counts, search }: { counts: StateCounts | null; search: JobsSearch }) {
  return (
    <nav className={styles.tabs} aria-label="States">
      {tabs.map((state) => (
        <Link
          key={state ?? 'ALL'}
          to="/jobs"
          search={{ ...search, state: state?.toLowerCase() }}
          className={tabStyles.tab}
          activeOptions={{ exact: true, includeSearch: true }}
          aria-current={search.state === state?.toLowerCase() ? 'page' : undefined}
        >
          {state && <StateGlyph state={state} />}
          {state ? stateWords[state] : 'All'}
          {counts && (
            <span className={tabStyles.count}>
              {formatCount(countStates(counts, state && [state]))}
              {!counts.isExact && '+'}
            </span>
          )}
        </Link>
      ))}
    </nav>
  )
}
