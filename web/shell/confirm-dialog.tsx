import { type FormEvent, useState } from 'react'
import { Dialog, Heading } from 'react-aria-components'
import { type Confirmation, closeLayer, type PartialResult } from '../ground/layer-store.ts'
import { Button } from '../parts/button.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { formatCount, plural } from '../parts/format.ts'
import { formatServerText } from '../parts/server-text.ts'
import { StateGlyph } from '../parts/state-glyph.tsx'
import { LayerFrame } from './layer-frame.tsx'
import styles from './layers.module.css'

const jobsShownMax = 100

/** Shows the objects by name, the effect in numbers, and the `berth` command, before the buttons. */
export function ConfirmDialog({ confirmation }: { confirmation: Confirmation }) {
  const { title, effect, jobs = [], command, confirmText, hasReason, form, run } = confirmation
  const { isDangerous = true, keepText = isDangerous ? 'Keep' : 'Back', untypedMax = 20 } = confirmation
  const count = confirmation.count ?? jobs.length
  const [progress, setProgress] = useState('')
  const [reason, setReason] = useState('')
  const [typed, setTyped] = useState('')
  const [isBusy, setBusy] = useState(false)
  const [refusal, setRefusal] = useState<string | PartialResult | null>(null)
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
  if (refusal !== null && typeof refusal === 'object') return <Result title={title} result={refusal} />
  return (
    <LayerFrame hasInput>
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
          {form}
          {hasReason && (
            <label className={styles.field}>
              Reason (optional; its owner sees it)
              <input value={reason} maxLength={1_000} onChange={({ target }) => setReason(target.value)} />
            </label>
          )}
          {count > untypedMax && (
            <label className={styles.field}>
              Type {count} to confirm
              <input autoFocus value={typed} inputMode="numeric" onChange={({ target }) => setTyped(target.value)} />
            </label>
          )}
          {command !== null && <CommandBox command={command} />}
          {refusal !== null && (
            <p className={styles.refusal} role="alert">
              {formatServerText(refusal)}
            </p>
          )}
          <div className={styles.buttons}>
            <Button onClick={closeLayer}>{keepText}</Button>
            <Button look={isDangerous ? 'danger' : 'primary'} type="submit" autoFocus disabled={!isTyped || isBusy}>
              {isBusy && progress !== '' ? progress : confirmText}
            </Button>
          </div>
        </form>
      </Dialog>
    </LayerFrame>
  )
}

/** Lists the objects for which the action was refused, with the reasons. */
const Result = ({ title, result: { done, refused } }: { title: string; result: PartialResult }) => (
  <LayerFrame>
    <Dialog role="alertdialog" className={styles.dialog ?? ''}>
      <Heading slot="title">{title}</Heading>
      <p>
        {done}. {plural(refused.length, 'job')} refused:
      </p>
      <ul className={styles.jobs}>
        {refused.slice(0, jobsShownMax).map(({ id, name, message }) => (
          <li key={id} className={styles.refused}>
            <strong>{name}</strong> {formatServerText(message)}
          </li>
        ))}
        {refused.length > jobsShownMax && <li>and {formatCount(refused.length - jobsShownMax)} more</li>}
      </ul>
      <div className={styles.buttons}>
        <Button look="primary" autoFocus onClick={closeLayer}>
          Close
        </Button>
      </div>
    </Dialog>
  </LayerFrame>
)

const CommandBox = ({ command }: { command: string }) => (
  <div className={styles.command}>
    <code>{command}</code>
    <CopyButton text={command} what="command" />
  </div>
)
