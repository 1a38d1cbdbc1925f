import { Link } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { client } from '../../app/connection.ts'
import { useResource } from '../../app/resource.ts'
import { CountStatesDocument, type JobFilter, type JobState } from '../../generated/graphql.ts'
import { formatCount } from '../../parts/format.ts'
import { StateGlyph } from '../../parts/state-glyph.tsx'
import type { JobsSearch } from '../../rows/filter-text.ts'
import styles from './state-tabs.module.css'

interface Tab {
  /** As a filter names it; absent: all. */
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
const readMs = 3_000

const toState = (state: NonNullable<Tab['state']>) => state.toUpperCase() as JobState

/** The states with the number of their jobs; the other terms of the filter stay. */
export function StateTabs({ filter, search }: { filter: JobFilter; search: JobsSearch }) {
  const { states: _, ...rest } = filter
  const read = async (signal: AbortSignal) => {
    const { jobCounts } = await client.request(CountStatesDocument, { filter: rest }, { signal })
    return jobCounts
  }
  const counts = useResource(JSON.stringify(rest), read, { everyMs: readMs })
  const last = useRef(counts.value)
  useEffect(() => {
    if (counts.value) last.current = counts.value
  }, [counts.value])
  const shown = counts.value ?? last.current
  const count = (state: Tab['state']) =>
    (shown?.rows ?? [])
      .filter(({ key }) => state === undefined || key === toState(state))
      .reduce((sum, row) => sum + row.count, 0)
  return (
    <nav className={styles.tabs} aria-label="States">
      {tabs.map(({ state, word }) => (
        <Link
          key={word}
          to="/jobs"
          search={{ ...search, state }}
          className={styles.tab}
          aria-current={search.state === state ? 'page' : undefined}
        >
          {state && <StateGlyph state={toState(state)} />}
          {word}
          {shown && (
            <span className={styles.count}>
              {formatCount(count(state))}
              {!shown.isExact && '+'}
            </span>
          )}
        </Link>
      ))}
    </nav>
  )
}
