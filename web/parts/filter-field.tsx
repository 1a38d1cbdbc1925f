import { Search, X } from 'lucide-react'
import { type Ref, useEffect, useState } from 'react'
import type { FilterProblem } from '../rows/filter-text.ts'
import { Button } from './button.tsx'
import styles from './filter-field.module.css'

interface FilterFieldProps {
  ref?: Ref<HTMLInputElement>
  text: string
  problems: readonly FilterProblem[]
  onChange: (text: string) => void
}

const pauseMs = 350

/** `key:value` terms and words of a name. The list follows while the reader types. */
export function FilterField({ ref, text, problems, onChange }: FilterFieldProps) {
  const [typed, setTyped] = useState(text)
  const [isEditing, setEditing] = useState(false)
  useEffect(() => {
    if (!isEditing) setTyped(text)
  }, [text, isEditing])
  // Only typing starts the pause.
  useEffect(() => {
    if (!isEditing || typed === text) return undefined
    const timer = setTimeout(() => onChange(typed), pauseMs)
    return () => clearTimeout(timer)
  }, [typed])
  const apply = (next: string) => {
    setTyped(next)
    onChange(next)
  }
  return (
    <search className={styles.box}>
      <div className={styles.field} data-invalid={problems.length > 0}>
        <Search size={14} />
        <input
          ref={ref}
          aria-label="Filter"
          aria-describedby={problems.length > 0 ? 'filter-problems' : undefined}
          placeholder="Filter: state:running user:me label:sweep=lr or words of a name"
          spellCheck={false}
          autoComplete="off"
          value={typed}
          onFocus={() => setEditing(true)}
          onBlur={() => setEditing(false)}
          onChange={({ target }) => setTyped(target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter') apply(typed)
            if (event.key === 'Escape') event.currentTarget.blur()
          }}
        />
        {typed !== '' && (
          <Button look="quiet" aria-label="Clear the filter" onClick={() => apply('')}>
            <X size={14} />
          </Button>
        )}
      </div>
      {problems.length > 0 && (
        <p id="filter-problems" className={styles.problems} role="alert">
          {problems.map(({ message }) => message).join('. ')}
        </p>
      )}
    </search>
  )
}
