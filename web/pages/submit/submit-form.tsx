import { createIdempotencyKey } from '@berth-jobs/berth/client'
import { Link, useSearch } from '@tanstack/react-router'
import { lazy, type RefObject, Suspense, useEffect, useMemo, useRef, useState } from 'react'
import { SubmitChoicesDocument } from '../../generated/graphql.ts'
import { useKeys } from '../../ground/keys.ts'
import { loadPart } from '../../ground/load-part.ts'
import { useQuery } from '../../ground/resource.ts'
import { Button, buttonClasses, Key } from '../../parts/button.tsx'
import { formatCount, plural } from '../../parts/format.ts'
import { Empty, Loading } from '../../parts/page-states.tsx'
import { formatServerText } from '../../parts/server-text.ts'
import { fillReferences, parseSweep } from './combinations.ts'
import { type Draft, saveDraft } from './draft.ts'
import { readChoices } from './form-subject.ts'
import { formatOutcome, Outcome } from './outcome.tsx'
import { SpecForm } from './spec-form.tsx'
import { type DraftSpec, editSpecText, type Mark, markViolations, parseSpecText } from './spec-text.ts'
import { SpecTools } from './spec-tools.tsx'
import { toInput } from './submission.ts'
import styles from './submit.module.css'
import { SweepField } from './sweep-field.tsx'
import { type DryRun, useDryRun } from './use-dry-run.ts'
import { type Submission, useSubmission } from './use-submission.ts'

const YamlEditor = lazy(() => loadPart(() => import('./yaml-editor.tsx')))
const choicesMs = 60_000
const empty: DraftSpec = {}

/** The form for a job or a sweep, with the prediction of the server. */
export function SubmitForm({ source, first }: { source: string; first: Draft }) {
  const { view, from } = useSearch({ from: '/jobs/new' })
  const { draft, change, isKept } = useDraft(source, first)
  const page = useRef<HTMLDivElement>(null)
  const { spec, marks } = useMemo(() => parseSpecText(draft.text), [draft.text])
  const sweep = useMemo(() => parseSweep(draft.sweep), [draft.sweep])
  const choices = useChoices(spec ?? empty)
  const sent = marks.length > 0 ? null : spec
  const submission = useSubmission({ source, from, draft, spec: sent, sweep, change })
  const { isSending, trouble } = submission
  const fields = useKeptFocus(isSending)
  const isReady = sent !== null && Object.keys(sent).length > 0 && !isSending
  const [combination] = sweep.combinations
  const tried = isReady ? ((combination ? fillReferences(sent, combination) : sent) as DraftSpec) : null
  const dryRun = useDryRun(tried && toInput(tried, draft.key))
  const violations = [...dryRun.violations, ...(trouble?.violations ?? [])]
  const count = Math.max(1, sweep.combinations.length)
  const edit = (next: Partial<Draft>) => {
    submission.clear()
    change(next)
  }
  const showField = (path: string) =>
    page.current?.querySelector<HTMLElement>(`[data-path="${path}"], [data-path="${path.split('.')[0]}"]`)?.focus()
  useKeys('New job', [{ keys: '$mod+Enter', help: 'Submit', run: submission.submit }])
  const editText = (text: string) => edit({ text })
  return (
    <div className={styles.page} ref={page}>
      <SpecTools spec={spec} text={draft.text} view={view} from={from} onOpen={editText} />
      <div className={styles.columns}>
        <fieldset ref={fields} className={styles.input} disabled={isSending}>
          {view === 'yaml' ? (
            <Suspense fallback={<Loading />}>
              <YamlEditor
                text={draft.text}
                marks={[...marks, ...markViolations(draft.text, violations)]}
                choices={choices}
                isDisabled={isSending}
                onChange={editText}
              />
            </Suspense>
          ) : spec === null ? (
            <BrokenText text={draft.text} marks={marks} />
          ) : (
            <SpecForm
              subject={{ spec, edit: (edits) => editText(editSpecText(draft.text, edits)), violations, choices }}
            />
          )}
          <SweepField
            text={draft.sweep}
            sweep={sweep}
            spec={spec ?? empty}
            results={submission.results}
            onChange={(text) => edit({ sweep: text })}
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
        onNewKey={() => edit({ key: createIdempotencyKey() })}
      />
    </div>
  )
}

/** Restores the focus after the fields were disabled, because a disabled field loses it. */
function useKeptFocus(isDisabled: boolean): RefObject<HTMLFieldSetElement | null> {
  const fields = useRef<HTMLFieldSetElement>(null)
  const focused = useRef<HTMLElement>(null)
  useEffect(() => {
    if (!isDisabled && document.activeElement === document.body) focused.current?.focus({ preventScroll: true })
    const note = ({ target }: FocusEvent) => {
      if (target instanceof HTMLElement) focused.current = target
    }
    const { current } = fields
    current?.addEventListener('focusin', note)
    return () => current?.removeEventListener('focusin', note)
  }, [isDisabled])
  return fields
}

function useChoices(spec: DraftSpec) {
  const { value } = useQuery(SubmitChoicesDocument, {}, { everyMs: choicesMs })
  return readChoices(value, spec)
}

/** The draft, which is stored in the tab at each change. */
function useDraft(source: string, first: Draft) {
  const [draft, setDraft] = useState(first)
  const [isKept, setKept] = useState(true)
  const latest = useRef(first)
  const change = (next: Partial<Draft>) => {
    latest.current = { ...latest.current, ...next }
    setDraft(latest.current)
    setKept(saveDraft(source, latest.current))
  }
  return { draft, change, isKept }
}

/** Shown instead of the form if the text is not a spec. */
function BrokenText({ text, marks }: { text: string; marks: readonly Mark[] }) {
  const [mark] = marks
  const line = text.slice(0, mark?.from ?? 0).split('\n').length
  return (
    <Empty
      title={`The YAML cannot be read: line ${line}`}
      actions={
        <Link to="/jobs/new" search={(before) => ({ ...before, view: 'yaml' })} hash className={buttonClasses('plain')}>
          Open the YAML
        </Link>
      }
    >
      {mark?.message}
    </Empty>
  )
}

/** Summarizes the prediction in one line, for narrow pages. */
function summarize({ preview, refusal, violations }: DryRun): string {
  if (preview) return preview.idempotentJob ? 'Submitted already' : formatOutcome(preview)
  if (violations.length > 0) return `${plural(violations.length, 'value')} to correct`
  return formatServerText(refusal?.message ?? '')
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
          {formatServerText(trouble.message)}
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
