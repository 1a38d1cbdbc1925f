import { Key } from './button.tsx'
import styles from './key-table.module.css'

const formatKey = (key: string) =>
  key
    .replace('$mod', navigator.platform.startsWith('Mac') ? '⌘' : 'Ctrl')
    .replace('Escape', 'Esc')
    .replace('Enter', '↵')
    .replace(/\+(\w)$/, (_, letter: string) => ` ${letter.toUpperCase()}`)

interface KeyTableProps {
  groups: readonly { title: string; bindings: readonly { keys: string; help: string }[] }[]
}

/** A table of keys and what they do, the newest group first. Keys without help are alternatives and are left out. */
export const KeyTable = ({ groups }: KeyTableProps) => (
  <div className={styles.keys}>
    {groups.toReversed().map(({ title, bindings }) => (
      <section key={title}>
        <h3>{title}</h3>
        <ul>
          {bindings
            .filter(({ help }) => help !== '')
            .map(({ keys, help }) => (
              <li key={keys}>
                <span>{help}</span>
                <span>
                  {keys.split(' ').map((key, place) => (
                    <Key key={place}>{formatKey(key)}</Key>
                  ))}
                </span>
              </li>
            ))}
        </ul>
      </section>
    ))}
  </div>
)
