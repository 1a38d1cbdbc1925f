import { type ReactNode, useId } from 'react'
import styles from './check-list.module.css'
import { useViolations } from './form.tsx'

interface CheckListProps<Value extends string> {
  label: string
  help?: ReactNode
  path?: string
  options: readonly { value: Value; text: ReactNode; isDisabled?: boolean }[]
  chosen: readonly Value[]
  onChange: (chosen: readonly Value[]) => void
}

/** A group of checkboxes. */
export function CheckList<Value extends string>({ label, help, path, ...choice }: CheckListProps<Value>) {
  const { options, chosen, onChange } = choice
  const id = useId()
  const violations = useViolations(path)
  const toggle = (value: Value, isChosen: boolean) =>
    onChange(options.map((each) => each.value).filter((each) => (each === value ? isChosen : chosen.includes(each))))
  return (
    <fieldset className={styles.list} aria-describedby={help || violations.length > 0 ? id : undefined}>
      <legend>{label}</legend>
      <div className={styles.options}>
        {options.map(({ value, text, isDisabled = false }) => (
          <label key={value}>
            <input
              type="checkbox"
              checked={chosen.includes(value)}
              disabled={isDisabled}
              onChange={({ target }) => toggle(value, target.checked)}
            />
            <span>{text}</span>
          </label>
        ))}
      </div>
      <small id={id} role={violations.length > 0 ? 'alert' : undefined} data-wrong={violations.length > 0}>
        {violations.length > 0 ? violations.map(({ message }) => message).join(' ') : help}
      </small>
    </fieldset>
  )
}
