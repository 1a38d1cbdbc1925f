import { type FormEvent, useState } from 'react'
import styles from './cluster.module.css'

/** A field for a request such as "4 GPU a100". The page marks the nodes on which it fits. */
export function FitsField({ text, onChange }: { text: string; onChange: (text: string) => void }) {
  const [typed, setTyped] = useState(text)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onChange(typed.trim())
  }
  return (
    <form role="search" className={styles.search} onSubmit={submit}>
      <label>
        Fits
        <input
          value={typed}
          placeholder="4 GPU >= 40 GiB"
          maxLength={80}
          onChange={({ target }) => setTyped(target.value)}
          onBlur={() => typed.trim() !== text && onChange(typed.trim())}
          onKeyDown={({ key }) => key === 'Escape' && onChange('')}
        />
      </label>
    </form>
  )
}
