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

/** The refusal of a mutation: a sentence, and the fields that it is about. */
export interface Refusal {
  message: string
  violations: readonly Violation[]
}

export const refusal = (message: string): Refusal => ({ message, violations: [] })

/** The refusal for an error: the mutation had no answer. */
export const refusalOf = (error: unknown): Refusal => refusal(error instanceof Error ? error.message : String(error))

/** The refusal of the form around a field. */
const FormRefusal = createContext<Refusal | null>(null)

/** The messages of the form at a field, and at the parts of it. */
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
  /** Where the server reports its refusals; see `useViolations`. */
  path?: string | undefined
}

interface FieldProps extends FieldTexts {
  /** One `input`, `select` or `textarea`. */
  children: ReactElement<{ id?: string; 'aria-describedby'?: string | undefined; 'aria-invalid'?: boolean }>
}

/** A label, its control, help, and the messages of the server. */
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
          {violations.map(({ message }) => message).join(' ')}
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

/** Short fields beside each other. */
export const Pair = ({ children }: { children: ReactNode }) => <div className={styles.pair}>{children}</div>

interface FormProps {
  submitText: string
  /** The form was opened on request: its first field has the focus. */
  takesFocus?: boolean
  onCancel?: () => void
  /** Does it; a refusal stays in the form, with the input. */
  onSubmit: () => Promise<Refusal | null>
  children: ReactNode
}

/** Sends once at a time. Refusals that belong to no field stand above the buttons. */
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
