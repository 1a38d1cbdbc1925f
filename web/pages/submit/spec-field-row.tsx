import { useId, useState } from 'react'
import { isSame } from '../../parts/changed-values.ts'
import { type FieldText, findFieldText } from './field-texts.ts'
import type { FormSubject } from './form-subject.ts'
import { listViolationPaths, readValue, type SpecField, writeValue } from './spec-fields.ts'
import styles from './spec-form.module.css'

interface RowProps {
  field: SpecField
  subject: FormSubject
}

/** Returns the messages of violations at a field and below it. */
export const findMessages = (subject: Pick<FormSubject, 'violations'>, path: string): string[] =>
  subject.violations
    .filter((each) => listViolationPaths(path).some((own) => each.path === own || each.path.startsWith(`${own}.`)))
    .map(({ message }) => message)

/** A field of the spec with its label, control, help, and violations. */
export function SpecFieldRow({ field, subject }: RowProps) {
  const id = useId()
  const messages = findMessages(subject, field.path)
  const value = readValue(subject.spec, field.path)
  const change = (next: unknown) => subject.edit(writeValue(field.path, next))
  const control = {
    id,
    'data-path': field.path,
    'aria-describedby': `${id}-help`,
    'aria-invalid': messages.length > 0,
  }
  return (
    <div className={styles.row} data-wide={wide.has(field.path)}>
      <label htmlFor={id}>{field.label}</label>
      <Control field={field} subject={subject} control={control} value={value} onChange={change} />
      <small id={`${id}-help`}>
        {messages.length > 0 ? (
          <span className={styles.error}>{messages.join(' ')}</span>
        ) : (
          <span className={styles.help}>{shortHelp[field.path] ?? shorten(field.help)}</span>
        )}
      </small>
    </div>
  )
}

/** Removes limits from a help text, because the server reports them when they are exceeded. */
const shorten = (help: string) => help.replace(/ At most [\d,]+\.$/, '').replaceAll('`', '')

/** Shorter help for the most used fields. */
const shortHelp: Readonly<Record<string, string>> = {
  image: '',
  queue: '',
  name: '',
  'resources.cpu': 'default 1',
  'resources.memoryGib': 'default: a share of the machine',
  'resources.gpu': 'default none',
  'resources.gpuModel': '! excludes',
  maxRunTimeSeconds: '0: unlimited; default 2 days',
  labels: 'one in each line',
}

const wide = new Set(['image', 'queue', 'name', 'labels'])

interface ControlProps extends RowProps {
  control: { id: string; 'data-path': string; 'aria-describedby': string; 'aria-invalid': boolean }
  value: unknown
  onChange: (value: unknown) => void
}

function Control({ field, subject, control, value, onChange }: ControlProps) {
  if (field.type === 'Boolean') {
    const usual = field.default ?? false
    return (
      <input
        {...control}
        type="checkbox"
        checked={(value ?? usual) === true}
        onChange={({ target }) => onChange(target.checked === usual ? undefined : target.checked)}
      />
    )
  }
  const options = listOptions(field, subject)
  if (options) return <Choice {...{ field, control, value, onChange, options }} />
  return <TextControl {...{ field, subject, control, value, onChange }} />
}

type Option = readonly [value: string, text: string]

function listOptions({ path, values }: SpecField, { choices }: FormSubject): readonly Option[] | null {
  const same = (names: readonly string[]): readonly Option[] => names.map((name) => [name, name])
  if (path === 'queue')
    return choices.queues.map(({ name, pool }) => [name, pool && pool !== name ? `${name} (pool ${pool})` : name])
  if (path === 'executor') return same(choices.executors)
  if (values) return same(values)
  if (path === 'launcher') return same(choices.launchers)
  if (path === 'x11')
    return [
      ['CPU', 'drawn by the processor'],
      ['GPU', 'drawn by a GPU'],
    ]
  if (path === 'team' && choices.teams.length > 0) return same(choices.teams)
  return null
}

/** Converts a value to an option. `x11` is an object with one field; other values are texts. */
const toOption = (path: string, value: unknown): string => {
  if (value === undefined) return ''
  if (path !== 'x11') return typeof value === 'object' ? JSON.stringify(value) : String(value)
  return (value as { gpu?: unknown } | null)?.gpu === true ? 'GPU' : 'CPU'
}

const fromOption = (path: string, text: string): unknown => {
  if (text === '') return undefined
  return path === 'x11' ? { gpu: text === 'GPU' } : text
}

interface ChoiceProps extends Omit<ControlProps, 'subject'> {
  options: readonly Option[]
}

function Choice({ field, control, value, onChange, options }: ChoiceProps) {
  const shown = toOption(field.path, value)
  const isKnown = shown === '' || options.some(([each]) => each === shown)
  const usual = typeof field.default === 'string' ? `default: ${field.default}` : 'default'
  return (
    <select {...control} value={shown} onChange={({ target }) => onChange(fromOption(field.path, target.value))}>
      <option value="">{usual}</option>
      {!isKnown && <option value={shown}>{shown}</option>}
      {options.map(([each, text]) => (
        <option key={each} value={each}>
          {text}
        </option>
      ))}
    </select>
  )
}

/** Keeps the text as the user typed it, as long as it stands for the value in the spec. */
function useTyped(text: FieldText, value: unknown) {
  const [typed, setTyped] = useState<string | null>(null)
  const isCurrent = typed !== null && isSame(text.parse(typed), value)
  return { shown: isCurrent ? typed : text.format(value), setTyped }
}

const isoDay = /^\d{4}-\d\d-\d\dT/

function TextControl({ field, subject, control, value, onChange }: ControlProps) {
  const text = findFieldText(field.path, field.type)
  const { shown, setTyped } = useTyped(text, value)
  if (shown === null) return <input {...control} value="Edit this value in the YAML" readOnly disabled />
  const change = (next: string) => {
    setTyped(next)
    onChange(text.parse(next))
  }
  const shared = {
    ...control,
    value: shown,
    placeholder: text.placeholder,
    spellCheck: false,
    autoComplete: 'off',
    onChange: ({ target }: { target: { value: string } }) => change(target.value),
  }
  if (field.type === 'DateTime' && (shown === '' || isoDay.test(shown)))
    return <input {...shared} type="datetime-local" />
  if (text.isLong) return <textarea {...shared} rows={Math.min(8, shown.split('\n').length)} />
  const models = field.path.endsWith('gpuModel') ? subject.choices.gpuModels : []
  if (models.length === 0) return <input {...shared} />
  return (
    <>
      <input {...shared} list={`${control.id}-list`} />
      <datalist id={`${control.id}-list`}>
        {models.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  )
}
