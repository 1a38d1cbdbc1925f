import { Search, X } from 'lucide-react'
import { type KeyboardEvent, type Ref, useEffect, useId, useState } from 'react'
import { Button } from '../../../parts/button.tsx'
import { formatCount } from '../../../parts/format.ts'
import styles from './filter-field.module.css'
import type { FilterProblem } from './filter-text.ts'
import type { Suggestion } from './suggestions.ts'
import { useSuggestions } from './use-suggestions.ts'

interface FilterFieldProps {
  ref?: Ref<HTMLInputElement>
  text: string
  problems: readonly FilterProblem[]
  onChange: (text: string) => void
}

const pauseMs = 350

/** The state of the typed text, which is applied after a pause, and when the field loses focus. */
function useTyped({ text, onChange }: Pick<FilterFieldProps, 'text' | 'onChange'>) {
  const [typed, setTyped] = useState(text)
  const [isEditing, setEditing] = useState(false)
  useEffect(() => {
    if (!isEditing) setTyped(text)
  }, [text, isEditing])
  // Only typing starts the pause, so nothing else is a dependency.
  useEffect(() => {
    // After "label:key=" the user has yet to type the value.
    if (!isEditing || typed === text || typed.endsWith('=')) return undefined
    const timer = setTimeout(() => onChange(typed.trim()), pauseMs)
    return () => clearTimeout(timer)
  }, [typed])
  const enter = () => setEditing(true)
  const leave = () => {
    setEditing(false)
    if (typed.trim() !== text) onChange(typed.trim())
  }
  return { typed, setTyped, isEditing, enter, leave }
}

/** A field for `key:value` terms and words of a name, with suggestions. The list is filtered while the user types. */
export function FilterField({ ref, text, problems, onChange }: FilterFieldProps) {
  const { typed, setTyped, isEditing, enter, leave } = useTyped({ text, onChange })
  const [chosen, setChosen] = useState(-1)
  const listId = useId()
  const suggestions = useSuggestions(typed, isEditing)
  const change = (next: string) => {
    setTyped(next)
    setChosen(-1)
  }
  const apply = (next: string) => {
    change(next)
    onChange(next.trim())
  }
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    const suggestion = suggestions[chosen]
    if (step !== undefined && suggestions.length > 0) {
      event.preventDefault()
      setChosen((chosen + step + suggestions.length) % suggestions.length)
    } else if ((event.key === 'Enter' || event.key === 'Tab') && suggestion) {
      event.preventDefault()
      change(suggestion.text)
    } else if (event.key === 'Enter') apply(typed)
    else if (event.key === 'Escape') event.currentTarget.blur()
  }
  const isOpen = isEditing && suggestions.length > 0
  return (
    <search className={styles.box}>
      <div className={styles.field} data-invalid={problems.length > 0}>
        <Search size={14} />
        <input
          ref={ref}
          role="combobox"
          aria-label="Filter"
          aria-autocomplete="list"
          aria-expanded={isOpen}
          aria-controls={listId}
          aria-activedescendant={isOpen && chosen >= 0 ? `${listId}-${chosen}` : undefined}
          aria-describedby={problems.length > 0 ? 'filter-problems' : undefined}
          placeholder="Filter: state:running user:me label:sweep=lr or words of a name"
          spellCheck={false}
          autoComplete="off"
          value={typed}
          onFocus={enter}
          onBlur={leave}
          onChange={({ target }) => change(target.value)}
          onKeyDown={onKeyDown}
        />
        {typed !== '' && (
          <Button look="quiet" aria-label="Clear the filter" onClick={() => apply('')}>
            <X size={14} />
          </Button>
        )}
      </div>
      {isOpen && <Suggestions id={listId} suggestions={suggestions} chosen={chosen} onChoose={change} />}
      <Problems problems={problems} />
    </search>
  )
}

interface SuggestionsProps {
  id: string
  suggestions: readonly Suggestion[]
  chosen: number
  onChoose: (text: string) => void
}

function Suggestions({ id, suggestions, chosen, onChoose }: SuggestionsProps) {
  return (
    // Not focusable by Tab, although it scrolls, because it closes when the field loses the focus.
    <div id={id} role="listbox" aria-label="Suggestions" tabIndex={-1} className={styles.suggestions}>
      {suggestions.map(({ text, label, help, count }, i) => (
        <div
          key={label}
          id={`${id}-${i}`}
          role="option"
          aria-selected={i === chosen}
          className={styles.suggestion}
          // Keeps the focus in the field.
          onPointerDown={(event) => {
            event.preventDefault()
            onChoose(text)
          }}
        >
          <span>{label}</span>
          {help && <small>{help}</small>}
          {count !== undefined && <small>{formatCount(count)}</small>}
        </div>
      ))}
    </div>
  )
}

function Problems({ problems }: { problems: readonly FilterProblem[] }) {
  if (problems.length === 0) return null
  return (
    <p id="filter-problems" className={styles.problems} role="alert">
      {problems.map(({ message }) => message).join('. ')}
    </p>
  )
}
