import { ChevronDown, ChevronUp } from 'lucide-react'
import type { Ref } from 'react'
import { Button } from '../../parts/button.tsx'
import { formatCount } from '../../parts/format.ts'
import type { Found, Query } from './log-search.ts'
import { findFirst } from './rows.ts'
import styles from './search-field.module.css'
import { focusLines } from './use-log-keys.ts'

interface SearchFieldProps {
  ref: Ref<HTMLInputElement>
  query: Query
  found: Found | null
  /** The line of the current match. */
  current: number | null
  onChange: (query: Query) => void
  onMove: (direction: 1 | -1) => void
}

/** A search field. The server searches the whole log, not only the loaded lines. */
export function SearchField({ ref, query, found, current, onChange, onMove }: SearchFieldProps) {
  return (
    <search className={styles.search}>
      <div className={styles.field} data-invalid={Boolean(found?.failure)}>
        <input
          ref={ref}
          aria-label="Search the log"
          placeholder="Search"
          spellCheck={false}
          autoComplete="off"
          value={query.text}
          onChange={({ target }) => onChange({ ...query, text: target.value })}
          onKeyDown={(event) => {
            if (event.key === 'Enter') onMove(event.shiftKey ? -1 : 1)
            if (event.key === 'Escape') focusLines()
          }}
        />
        <Button
          look="quiet"
          aria-pressed={query.isRegex}
          title="Regular expression"
          onClick={() => onChange({ ...query, isRegex: !query.isRegex })}
        >
          .*
        </Button>
        <Button
          look="quiet"
          aria-pressed={!query.ignoreCase}
          title="Match the case"
          onClick={() => onChange({ ...query, ignoreCase: !query.ignoreCase })}
        >
          Aa
        </Button>
      </div>
      {query.text !== '' && <Matches found={found} current={current} onMove={onMove} />}
    </search>
  )
}

interface MatchesProps extends Pick<SearchFieldProps, 'found' | 'current' | 'onMove'> {
  of?: 'match' | 'error'
}

export function Matches({ found, current, onMove, of = 'match' }: MatchesProps) {
  if (found?.failure) return <span className={styles.trouble}>{found.failure.message}</span>
  const count = found?.count ?? 0
  const place = current === null ? -1 : findFirst(found?.lines ?? [], current)
  const isAt = found?.lines[place] === current
  return (
    <span className={styles.matches} role="status">
      {isAt && `${formatCount(place + 1)} of `}
      {formatCount(count)}
      {found?.isCut ? '+' : !found?.isComplete && '…'}
      <Button look="quiet" aria-label={`Previous ${of}`} disabled={count === 0} onClick={() => onMove(-1)}>
        <ChevronUp size={14} />
      </Button>
      <Button look="quiet" aria-label={`Next ${of}`} disabled={count === 0} onClick={() => onMove(1)}>
        <ChevronDown size={14} />
      </Button>
    </span>
  )
}
