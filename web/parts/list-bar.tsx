import { Search } from 'lucide-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { useKeys } from '../ground/keys.ts'
import styles from './list-bar.module.css'

/** Above a list: its filters at the left, its buttons at the right. */
export const ListBar = ({ children, actions }: { children?: ReactNode; actions?: ReactNode }) => (
  <div className={styles.bar}>
    {children}
    {actions && <span className={styles.actions}>{actions}</span>}
  </div>
)

const pauseMs = 200

interface SearchFieldProps {
  label: string
  text: string
  /** The `datalist` with suggestions. */
  listId?: string
  /** `/` goes there; one field of a page has it. */
  hasKey?: boolean
  onChange: (text: string) => void
}

/** Filters as one types, after a short pause. */
export function SearchField({ label, text, listId, hasKey = true, onChange }: SearchFieldProps) {
  const [typed, setTyped] = useState(text)
  const input = useRef<HTMLInputElement>(null)
  const change = useRef(onChange)
  change.current = onChange
  useKeys('List', hasKey ? [{ keys: '/', help: 'Filter', run: () => input.current?.focus() }] : [])
  // Another URL brings another text.
  useEffect(() => setTyped(text), [text])
  useEffect(() => {
    if (typed === text) return undefined
    const timer = setTimeout(() => change.current(typed), pauseMs)
    return () => clearTimeout(timer)
  }, [typed, text])
  return (
    <label className={styles.search}>
      <Search size={14} />
      <input
        ref={input}
        type="search"
        list={listId}
        aria-label={label}
        placeholder={label}
        value={typed}
        spellCheck={false}
        onChange={({ target }) => setTyped(target.value)}
      />
    </label>
  )
}

interface ChoiceProps {
  label: string
  value: string | undefined
  /** Value in the URL, and its text. */
  options: readonly (readonly [value: string, text: string])[]
  /** The entry for no choice, such as "All users". */
  any?: string
  onChange: (value: string | undefined) => void
}

/** One of a few values, or any of them. */
export const Choice = ({ label, value = '', options, any, onChange }: ChoiceProps) => (
  <select
    className={styles.choice}
    aria-label={label}
    value={value}
    data-chosen={value !== ''}
    onChange={({ target }) => onChange(target.value || undefined)}
  >
    {any !== undefined && <option value="">{any}</option>}
    {value !== '' && !options.some(([each]) => each === value) && <option value={value}>{value}</option>}
    {options.map(([each, text]) => (
      <option key={each} value={each}>
        {text}
      </option>
    ))}
  </select>
)
