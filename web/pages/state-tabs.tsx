import { Link } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { client } from '../app/connection.ts'
import { useResource } from '../app/resource.ts'
import { CountJobsDocument, type JobFilter, type JobState } from '../generated/graphql.ts'
import { formatCount } from '../parts/format.ts'
import { StateGlyph } from '../parts/state-glyph.tsx'
import type { JobsSearch } from '../rows/filter-text.ts'
import styles from './state-tabs.module.css'

interface Tab {
  name: 'all' | 'running' | 'queued' | 'blocked' | 'failed' | 'succeeded'
  word: string
  states: readonly JobState[]
}

const tabs: readonly Tab[] = [
  { name: 'all', word: 'All', states: [] },
  { name: 'running', word: 'Running', states: ['RUNNING'] },
  { name: 'queued', word: 'Queued', states: ['QUEUED'] },
  { name: 'blocked', word: 'Blocked', states: ['BLOCKED'] },
  { name: 'failed', word: 'Failed', states: ['FAILED'] },
  { name: 'succeeded', word: 'Succeeded', states: ['SUCCEEDED'] },
]
const readMs = 3_000

/** The states with the number of their jobs; the other terms of the filter stay. */
export function StateTabs({ filter, search }: { filter: JobFilter; search: JobsSearch }) {
  const { states: _, ...rest } = filter
  const counts = useResource(
    JSON.stringify(rest),
    (signal) => {
      const filters = tabs.map(({ name, states }) => [name, states.length > 0 ? { ...rest, states } : rest])
      return client.request(CountJobsDocument, Object.fromEntries(filters), { signal })
    },
    { everyMs: readMs },
  )
  const last = useRef(counts.value)
  useEffect(() => {
    if (counts.value) last.current = counts.value
  }, [counts.value])
  const shown = counts.value ?? last.current
  const current = search.state ?? ''
  return (
    <nav className={styles.tabs} aria-label="States">
      {tabs.map(({ name, word, states }) => {
        const state = name === 'all' ? undefined : name
        const [only] = states
        return (
          <Link
            key={name}
            to="/jobs"
            search={{ ...search, state }}
            className={styles.tab}
            aria-current={current === (state ?? '') ? 'page' : undefined}
          >
            {only && <StateGlyph state={only} />}
            {word}
            <span className={styles.count}>{shown ? formatTotal(shown[name]) : ''}</span>
          </Link>
        )
      })}
    </nav>
  )
}

const formatTotal = ({ totalCount, isTotalExact }: { totalCount: number; isTotalExact: boolean }) =>
  `${formatCount(totalCount)}${isTotalExact ? '' : '+'}`
