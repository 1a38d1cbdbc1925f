import { useEffect, useId, useRef, useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { isSame } from '../../parts/changed-values.ts'
import { needsShell } from './command-words.ts'
import { type CommandMode, formatCommand, parseCommand } from './field-texts.ts'
import type { FormSubject } from './form-subject.ts'
import { findMessages } from './spec-field-row.tsx'
import styles from './spec-form.module.css'

const modes: readonly (readonly [CommandMode, string])[] = [
  ['WORDS', 'Program'],
  ['SCRIPT', 'Shell script'],
]

/** A field for the command: a program with arguments, or a shell script. */
export function CommandField({ subject }: { subject: FormSubject }) {
  const id = useId()
  const value = subject.spec['command']
  const [typed, setTyped] = useState<{ mode: CommandMode; text: string } | null>(null)
  const isCurrent = typed !== null && isSame(parseCommand(typed.mode, typed.text), value)
  const shown = isCurrent ? typed : formatCommand(value)
  const messages = findMessages(subject, 'command')
  const field = useRef<HTMLTextAreaElement>(null)
  // Focuses the command of a new spec, except on phones, where the keyboard would cover the form.
  useEffect(() => {
    if (value === undefined && !matchMedia('(pointer: coarse)').matches) field.current?.focus({ preventScroll: true })
  }, [])
  const change = (next: { mode: CommandMode; text: string }) => {
    setTyped(next)
    subject.edit([{ path: ['command'], value: parseCommand(next.mode, next.text) }])
  }
  return (
    <div className={styles.row}>
      <span className={styles.labelLine}>
        <label htmlFor={id}>Command</label>
        {shown && (
          <span className={styles.modes} role="group" aria-label="Kind of command">
            {modes.map(([mode, text]) => (
              <button
                key={mode}
                type="button"
                aria-pressed={shown.mode === mode}
                onClick={() => change({ mode, text: shown.text })}
              >
                {text}
              </button>
            ))}
          </span>
        )}
      </span>
      <textarea
        ref={field}
        id={id}
        data-path="command"
        className={styles.code}
        rows={shown ? Math.min(14, Math.max(2, shown.text.split('\n').length)) : 2}
        value={shown?.text ?? 'Edit this value in the YAML'}
        disabled={shown === null}
        spellCheck={false}
        autoCapitalize="off"
        placeholder={shown?.mode === 'SCRIPT' ? 'cd project && make test' : 'python train.py --lr 0.1'}
        aria-invalid={messages.length > 0}
        aria-describedby={`${id}-help`}
        onChange={({ target }) => shown && change({ mode: shown.mode, text: target.value })}
      />
      <small id={`${id}-help`}>
        {messages.length > 0 && <span className={styles.error}>{messages.join(' ')} </span>}
        {shown?.mode === 'WORDS' && needsShell(shown.text) && (
          <span className={styles.hint}>
            Without a shell, the program gets these characters as they are.{' '}
            <Button look="quiet" onClick={() => change({ mode: 'SCRIPT', text: shown.text })}>
              Run as a shell script
            </Button>
          </span>
        )}
      </small>
    </div>
  )
}
