import {
  cloneElement,
  createContext,
  type FormEvent,
  type InputHTMLAttributes,
  type ReactElement,
  type ReactNode,
  useContext,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react'
import { Button } from './button.tsx'
import styles from './form.module.css'
import { formatServerText } from './server-text.ts'

export interface Violation {
  /** Path in the input, as the server reports it: `limits.maxRunning`. */
  path: string
  message: string
}

/** Why a mutation was refused: a sentence, and the violations of single fields. */
export interface Refusal {
  message: string
  violations: readonly Violation[]
}

export const refusal = (message: string): Refusal => ({ message, violations: [] })

/** Makes a refusal of an error, such as a failed request. */
export const refusalOf = (error: unknown): Refusal => refusal(error instanceof Error ? error.message : String(error))

/** The refusal of the form around a field. */
const FormRefusal = createContext<Refusal | null>(null)

/** Returns the violations of the form at `path` and below it. */
export function useViolations(path: string | undefined): readonly Violation[] {
  const found = useContext(FormRefusal)
  if (path === undefined || !found) return []
  return found.violations.filter(
    (each) => each.path === path || (/^[.[]/.test(each.path.slice(path.length)) && each.path.startsWith(path)),
  )
}

export interface FieldTexts {
  label: string
  help?: ReactNode
  /** The path of the field in the input of the mutation; see `useViolations`. */
  path?: string | undefined
}

interface FieldProps extends FieldTexts {
  /** The control: one `input`, `select` or `textarea`. */
  children: ReactElement<{ id?: string; 'aria-describedby'?: string | undefined; 'aria-invalid'?: boolean }>
}

/** A control with its label, its help, and the violations that the server reported. */
export function Field({ label, help, path, children }: FieldProps) {
  const id = useId()
  const violations = useViolations(path)
  const describedBy = [help && `${id}-help`, violations.length > 0 && `${id}-error`].filter(Boolean).join(' ')
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      {cloneElement(children, {
        id,
        'aria-describedby': describedBy || undefined,
        'aria-invalid': violations.length > 0,
      })}
      {help && (
        <small id={`${id}-help`} className={styles.help}>
          {help}
        </small>
      )}
      {violations.length > 0 && (
        <small id={`${id}-error`} className={styles.error} role="alert">
          {formatServerText(violations.map(({ message }) => message).join(' '))}
        </small>
      )}
    </div>
  )
}

interface TextFieldProps extends FieldTexts, Omit<InputHTMLAttributes<HTMLInputElement>, 'onChange'> {
  onChange: (text: string) => void
}

export const TextField = ({ label, help, path, onChange, ...input }: TextFieldProps) => (
  <Field label={label} help={help} path={path}>
    <input {...input} onChange={({ target }) => onChange(target.value)} />
  </Field>
)

interface SelectFieldProps<Value extends string> extends FieldTexts {
  value: Value
  options: readonly (readonly [value: Value, text: string])[]
  isDisabled?: boolean
  onChange: (value: Value) => void
}

export const SelectField = <Value extends string>({ value, options, ...rest }: SelectFieldProps<Value>) => (
  <Field label={rest.label} help={rest.help} path={rest.path}>
    <select
      value={value}
      disabled={rest.isDisabled ?? false}
      onChange={({ target }) => rest.onChange(target.value as Value)}
    >
      {options.map(([each, text]) => (
        <option key={each} value={each}>
          {text}
        </option>
      ))}
    </select>
  </Field>
)

interface CheckFieldProps {
  text: string
  isChecked: boolean
  onChange: (isChecked: boolean) => void
}

export const CheckField = ({ text, isChecked, onChange }: CheckFieldProps) => (
  <label className={styles.check}>
    <input type="checkbox" checked={isChecked} onChange={({ target }) => onChange(target.checked)} />
    {text}
  </label>
)

/** Two or more short fields in one row. */
export const Pair = ({ children }: { children: ReactNode }) => <div className={styles.pair}>{children}</div>

interface FormProps {
  submitText: string
  /** true: the first field gets the focus. */
  takesFocus?: boolean
  onCancel?: () => void
  /** Sends the mutation. If it returns a refusal, the form stays open and shows it. */
  onSubmit: () => Promise<Refusal | null>
  children: ReactNode
}

/** Submits once at a time. Violations that belong to no field are listed above the buttons. */
export function Form({ submitText, takesFocus = false, onCancel, onSubmit, children }: FormProps) {
  const [found, setFound] = useState<Refusal | null>(null)
  const [isBusy, setBusy] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    if (takesFocus) form.current?.querySelector<HTMLElement>('input, select, textarea')?.focus()
  }, [takesFocus])
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (isBusy) return
    setBusy(true)
    const next = await onSubmit().catch(refusalOf)
    setBusy(false)
    setFound(next)
    if (next) requestAnimationFrame(() => form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus())
  }
  return (
    <form ref={form} className={styles.form} onSubmit={(event) => void submit(event)}>
      <FormRefusal value={found}>{children}</FormRefusal>
      {found && (
        <p className={styles.refusal} role="alert">
          {formatServerText(found.message)}
        </p>
      )}
      <div className={styles.buttons}>
        {onCancel && <Button onClick={onCancel}>Cancel</Button>}
        <Button look="primary" type="submit" disabled={isBusy}>
          {submitText}
        </Button>
      </div>
    </form>
  )
}
