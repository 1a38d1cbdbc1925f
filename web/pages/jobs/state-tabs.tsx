import { Link } from '@tanstack/react-router'
import type { JobState } from '../../generated/graphql.ts'
import { formatCount } from '../../parts/format.ts'
import { StateGlyph } from '../../parts/state-glyph.tsx'
import type { JobsSearch } from '../../rows/filter-text.ts'
import styles from './state-tabs.module.css'
import { countStates, type StateCounts } from './use-state-counts.ts'

interface Tab {
  /** The word of a filter; absent: all. */
  state?: 'running' | 'queued' | 'blocked' | 'failed' | 'succeeded'
  word: string
}

const tabs: readonly Tab[] = [
  { word: 'All' },
  { state: 'running', word: 'Running' },
  { state: 'queued', word: 'Queued' },
  { state: 'blocked', word: 'Blocked' },
  { state: 'failed', word: 'Failed' },
  { state: 'succeeded', word: 'Succeeded' },
]

const toState = (state: NonNullable<Tab['state']>) => state.toUpperCase() as JobState

/** The states with the number of their jobs; the other terms of the filter stay. */
export function StateTabs({ counts, search }: { counts: StateCounts | null; search: JobsSearch }) {
  return (
    <nav className={styles.tabs} aria-label="States">
      {tabs.map(({ state, word }) => (
        <Link
          key={word}
          to="/jobs"
          search={{ ...search, state }}
          className={styles.tab}
          activeOptions={{ exact: true, includeSearch: true }}
          aria-current={search.state === state ? 'page' : undefined}
        >
          {state && <StateGlyph state={toState(state)} />}
          {word}
          {counts && (
            <span className={styles.count}>
              {formatCount(countStates(counts, state && [toState(state)]))}
              {!counts.isExact && '+'}
            </span>
          )}
        </Link>
      ))}
    </nav>
  )
}
