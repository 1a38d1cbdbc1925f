import { Search } from 'lucide-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { useKeys } from '../ground/keys.ts'
import styles from './list-bar.module.css'

/** The bar above a list: filters at the left, buttons at the right. */
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
  /** The id of the `datalist` with suggestions. */
  listId?: string
  /** true (default): the key `/` focuses this field. Only one field of a page may have it. */
  hasKey?: boolean
  onChange: (text: string) => void
}

/** A search field that applies the text after a short pause in typing. */
export function SearchField({ label, text, listId, hasKey = true, onChange }: SearchFieldProps) {
  const [typed, setTyped] = useState(text)
  const input = useRef<HTMLInputElement>(null)
  const change = useRef(onChange)
  change.current = onChange
  useKeys('List', hasKey ? [{ keys: '/', help: 'Filter', run: () => input.current?.focus() }] : [])
  // The text also changes with the URL.
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
  /** Each option: its value in the URL, and its text. */
  options: readonly (readonly [value: string, text: string])[]
  /** The text of the entry that means no filter, such as "All users". */
  any?: string
  onChange: (value: string | undefined) => void
}

/** A filter with one value of several, or none. */
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
