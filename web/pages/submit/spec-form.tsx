import { useEffect, useState } from 'react'
import { CommandField } from './command-field.tsx'
import type { FormSubject } from './form-subject.ts'
import { findMessages, SpecFieldRow } from './spec-field-row.tsx'
import { essentials, findField, moreGroups, readValue, type SpecField, toSupportName } from './spec-fields.ts'
import styles from './spec-form.module.css'

/** The form of a spec: the most used fields, and further fields that the executor supports. */
export function SpecForm({ subject }: { subject: FormSubject }) {
  const groups = moreGroups
    .map(({ title, fields }) => ({ title, fields: fields.filter((field) => isShown(field, subject)) }))
    .filter(({ fields }) => fields.length > 0)
  const more = groups.flatMap(({ fields }) => fields)
  const isWanted = more.some(({ path }) => hasContent(path, subject))
  const [isOpen, setOpen] = useState(isWanted)
  // Opens automatically if a hidden field has a value or a violation. Only the user closes it.
  useEffect(() => {
    if (isWanted) setOpen(true)
  }, [isWanted])
  return (
    <div className={styles.form}>
      <CommandField subject={subject} />
      <div className={`${styles.grid} ${styles.essentials}`}>
        {essentials
          .slice(1)
          .map(findField)
          .filter((field) => isShown(field, subject))
          .map((field) => (
            <SpecFieldRow key={field.path} field={field} subject={subject} />
          ))}
      </div>
      <details className={styles.more} open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>More: {more.length} fields</summary>
        {groups.map(({ title, fields }) => (
          <fieldset key={title} className={styles.group}>
            <legend>{title}</legend>
            <div className={styles.grid}>
              {fields.map((field) => (
                <SpecFieldRow key={field.path} field={field} subject={subject} />
              ))}
            </div>
          </fieldset>
        ))}
      </details>
    </div>
  )
}

const hasContent = (path: string, subject: FormSubject) =>
  readValue(subject.spec, path) !== undefined || findMessages(subject, path).length > 0

/** Hides fields that no executor of the pool supports, unless the spec has them. */
function isShown({ path }: SpecField, subject: FormSubject): boolean {
  if (hasContent(path, subject)) return true
  if (path === 'resources.gpuModel' && readValue(subject.spec, 'resources.gpu') === undefined) return false
  return subject.choices.supports(toSupportName(path))
}
