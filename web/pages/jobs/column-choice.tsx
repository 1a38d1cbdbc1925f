import { changeSettings, type Settings, useSettings } from '../../ground/settings.ts'
import { Button } from '../../parts/button.tsx'
import styles from './column-choice.module.css'
import { columns, defaultColumns } from './columns.tsx'

const densities: Readonly<Record<Settings['density'], string>> = {
  COMPACT: 'Compact',
  NORMAL: 'Normal',
  TOUCH: 'Large',
}

/** Chooses the columns of the list and the height of its rows. Each choice applies at once. */
export function ColumnChoice({ onClose }: { onClose: () => void }) {
  const { jobColumns, density } = useSettings()
  const chosen = new Set(jobColumns ?? defaultColumns)
  const choose = (key: string, isChosen: boolean) => {
    const next = columns.map((column) => column.key).filter((each) => (each === key ? isChosen : chosen.has(each)))
    changeSettings({ jobColumns: next.join() === defaultColumns.join() ? null : next })
  }
  return (
    <div className={styles.choice}>
      <ul>
        {columns.map(({ key, title, rank }) => (
          <li key={key}>
            <label>
              <input
                type="checkbox"
                checked={rank === 0 || chosen.has(key)}
                disabled={rank === 0}
                onChange={({ target }) => choose(key, target.checked)}
              />
              {title}
            </label>
          </li>
        ))}
      </ul>
      <fieldset>
        <legend>Rows</legend>
        {Object.entries(densities).map(([value, word]) => (
          <label key={value}>
            <input
              type="radio"
              name="density"
              checked={density === value}
              onChange={() => changeSettings({ density: value as Settings['density'] })}
            />
            {word}
          </label>
        ))}
      </fieldset>
      <p>Where the page is narrow, the columns that matter least are left out.</p>
      <div className={styles.buttons}>
        <Button disabled={jobColumns === null} onClick={() => changeSettings({ jobColumns: null })}>
          Default columns
        </Button>
        <Button look="primary" onClick={onClose}>
          Done
        </Button>
      </div>
    </div>
  )
}
