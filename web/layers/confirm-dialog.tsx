import { type FormEvent, useState } from 'react'
import { Dialog, Heading } from 'react-aria-components'
import { Button } from '../parts/button.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { formatCount } from '../parts/format.ts'
import { StateGlyph } from '../parts/state-glyph.tsx'
import { LayerFrame } from './layer-frame.tsx'
import { type Confirmation, closeLayer } from './layer-store.ts'
import styles from './layers.module.css'

/** Above this number of objects, their number must be typed. */
const untypedMax = 20
const jobsShownMax = 100

/** Consequences first: the objects by name, the effect in numbers, and the command that does the same. */
export function ConfirmDialog({ confirmation }: { confirmation: Confirmation }) {
  const { title, effect, jobs, command, confirmText, keepText, hasReason, run } = confirmation
  const count = confirmation.count ?? jobs.length
  const [progress, setProgress] = useState('')
  const [reason, setReason] = useState('')
  const [typed, setTyped] = useState('')
  const [isBusy, setBusy] = useState(false)
  const [refusal, setRefusal] = useState<string | null>(null)
  const isTyped = count <= untypedMax || typed.replaceAll(',', '').trim() === String(count)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (!isTyped || isBusy) return
    setBusy(true)
    const found = await run(reason, setProgress).catch((error: unknown) =>
      error instanceof Error ? error.message : String(error),
    )
    setBusy(false)
    setRefusal(found)
    if (found === null) closeLayer()
  }
  return (
    <LayerFrame>
      <Dialog role="alertdialog" className={styles.dialog ?? ''}>
        <form onSubmit={(event) => void submit(event)} style={{ display: 'contents' }}>
          <Heading slot="title">{title}</Heading>
          <p>{effect}</p>
          {jobs.length > 0 && (
            <ul className={styles.jobs}>
              {jobs.slice(0, jobsShownMax).map(({ id, name, state }) => (
                <li key={id} className={styles.job}>
                  <StateGlyph state={state} />
                  {name ?? 'without a name'}
                  <code>{id}</code>
                </li>
              ))}
              {jobs.length > jobsShownMax && <li>and {formatCount(jobs.length - jobsShownMax)} more</li>}
            </ul>
          )}
          {hasReason && (
            <label className={styles.field}>
              Reason (optional; its owner sees it)
              <input value={reason} maxLength={1_000} onChange={({ target }) => setReason(target.value)} />
            </label>
          )}
          {count > untypedMax && (
            <label className={styles.field}>
              Type {count} to confirm
              <input value={typed} inputMode="numeric" onChange={({ target }) => setTyped(target.value)} />
            </label>
          )}
          {command !== null && <CommandBox command={command} />}
          {refusal !== null && (
            <p className={styles.refusal} role="alert">
              {refusal}
            </p>
          )}
          <div className={styles.buttons}>
            <Button onClick={closeLayer}>{keepText}</Button>
            <Button look="danger" type="submit" autoFocus disabled={!isTyped || isBusy}>
              {isBusy && progress !== '' ? progress : confirmText}
            </Button>
          </div>
        </form>
      </Dialog>
    </LayerFrame>
  )
}

const CommandBox = ({ command }: { command: string }) => (
  <div className={styles.command}>
    <code>{command}</code>
    <CopyButton text={command} what="command" />
  </div>
)
