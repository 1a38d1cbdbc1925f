import { useRef, useState } from 'react'
import { client } from '../../app/connection.ts'
import { useKeys } from '../../app/keys.ts'
import { useResource } from '../../app/resource.ts'
import { SubmitChoicesDocument } from '../../generated/graphql.ts'
import { Button, Key } from '../../parts/button.tsx'
import { formatCount, plural } from '../../parts/format.ts'
import { fill, parseSweep } from './combinations.ts'
import { createDraft, type Draft, saveDraft } from './draft.ts'
import { readChoices } from './form-subject.ts'
import { formatOutcome, Outcome } from './outcome.tsx'
import { SpecForm } from './spec-form.tsx'
import { type DraftSpec, editSpecText, parseSpecText } from './spec-text.ts'
import { toInput } from './submission.ts'
import styles from './submit.module.css'
import { type DryRun, useDryRun } from './use-dry-run.ts'
import { type Submission, useSubmission } from './use-submission.ts'

const choicesMs = 60_000
const empty: DraftSpec = {}

/** The form of one job or of a sweep, and its prediction. */
export function SubmitForm({ source, first }: { source: string; first: Draft }) {
  const [draft, setDraft] = useState(first)
  const [isKept, setKept] = useState(true)
  const page = useRef<HTMLDivElement>(null)
  const { value: facts } = useResource(
    'submit choices',
    (signal) => client.request(SubmitChoicesDocument, {}, { signal }),
    { everyMs: choicesMs },
  )
  const latest = useRef(first)
  const change = (next: Partial<Draft>) => {
    latest.current = { ...latest.current, ...next }
    setDraft(latest.current)
    setKept(saveDraft(source, latest.current))
  }
  const { spec, marks } = parseSpecText(draft.text)
  const sweep = parseSweep(draft.sweep)
  const submission = useSubmission({ source, draft, spec: marks.length > 0 ? null : spec, sweep, change })
  const { isSending, trouble } = submission
  const [combination] = sweep.combinations
  const isReady = spec !== null && marks.length === 0 && Object.keys(spec).length > 0 && !isSending
  const tried = isReady ? toInput(combination ? (fill(spec, combination) as DraftSpec) : spec, draft.key) : null
  const dryRun = useDryRun(tried)
  const violations = [...dryRun.violations, ...(trouble?.violations ?? [])]
  const count = Math.max(1, sweep.combinations.length)
  const edit = (next: Partial<Draft>) => {
    submission.clear()
    change(next)
  }
  const showField = (path: string) =>
    page.current?.querySelector<HTMLElement>(`[data-path="${path}"], [data-path="${path.split('.')[0]}"]`)?.focus()
  useKeys('New job', [{ keys: '$mod+Enter', help: 'Submit', run: submission.submit }])
  return (
    <div className={styles.page} ref={page}>
      <div className={styles.columns}>
        <fieldset className={styles.input} disabled={isSending}>
          <SpecForm
            subject={{
              spec: spec ?? empty,
              edit: (edits) => edit({ text: editSpecText(draft.text, edits) }),
              violations,
              choices: readChoices(facts, spec ?? empty),
            }}
          />
        </fieldset>
        <aside className={styles.aside}>
          <Outcome dryRun={dryRun} count={count} onShowField={showField} />
        </aside>
      </div>
      <SubmitBar
        submission={submission}
        summary={summarize(dryRun)}
        count={count}
        isReady={isReady && sweep.trouble === null}
        isKept={isKept}
        onNewKey={() => edit({ key: createDraft('').key })}
      />
    </div>
  )
}

/** The prediction in one line, where the page has no room beside the form. */
function summarize({ preview, refusal, violations }: DryRun): string {
  if (preview) return preview.idempotentJob ? 'Submitted already' : formatOutcome(preview)
  if (violations.length > 0) return `${plural(violations.length, 'value')} to correct`
  return refusal?.message ?? ''
}

interface SubmitBarProps {
  submission: Submission
  summary: string
  count: number
  isReady: boolean
  isKept: boolean
  onNewKey: () => void
}

function SubmitBar({ submission, summary, count, isReady, isKept, onNewKey }: SubmitBarProps) {
  const { isSending, trouble, results } = submission
  const text = count > 1 ? `Submit ${plural(count, 'job')}` : 'Submit'
  const progress = count > 1 ? `Submitted ${formatCount(results.length)} of ${formatCount(count)}…` : 'Submitting…'
  return (
    <footer className={styles.foot}>
      {trouble && (
        <p className={styles.trouble} role="alert">
          {trouble.message}
          {trouble.isConflict && (
            <Button look="quiet" onClick={onNewKey}>
              Make it a new job
            </Button>
          )}
        </p>
      )}
      {!isKept && <p className={styles.trouble}>This tab has no room to keep the form over a reload.</p>}
      <p className={styles.summary}>{summary}</p>
      <span className={styles.keys}>
        <Key>Ctrl Enter</Key>
      </span>
      {isSending && <Button onClick={submission.stop}>Stop</Button>}
      <Button look="primary" disabled={!isReady} onClick={submission.submit}>
        {isSending ? progress : text}
      </Button>
    </footer>
  )
}
