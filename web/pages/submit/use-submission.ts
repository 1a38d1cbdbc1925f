import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { jobStore } from '../../features/jobs/rows/job-store.ts'
import { nameJob } from '../../parts/server-text.ts'
import { showToast } from '../../parts/toasts.tsx'
import { type Sweep, sweepSpecs } from './combinations.ts'
import { continuedMsMax, type Draft, removeDraft } from './draft.ts'
import { offerCancel } from './offer-cancel.tsx'
import type { DraftSpec } from './spec-text.ts'
import { type SubmittedJob, type SweepResult, submitOne, submitSweep, type Trouble, toInput } from './submission.ts'

export interface Submission {
  isSending: boolean
  trouble: Trouble | null
  /** Results of the jobs of a sweep so far. */
  results: readonly SweepResult[]
  submit: () => void
  stop: () => void
  /** Clears the refusal after the input has changed. */
  clear: () => void
}

interface Subject {
  source: string
  /** The id of the job whose spec the form was opened with. */
  from: string | undefined
  draft: Draft
  spec: DraftSpec | null
  sweep: Sweep
  change: (change: Partial<Draft>) => void
}

/** Makes the value of the label `sweep`, the same for all jobs of a form. */
const labelSweep = (spec: DraftSpec, key: string): string =>
  `${typeof spec['name'] === 'string' ? spec['name'].slice(0, 200) : 'sweep'}-${key.slice(0, 6)}`

/** Submits the form once at a time. Continues a submission that a reload interrupted. */
export function useSubmission(subject: Subject): Submission {
  const navigate = useNavigate()
  const latest = useRef(subject)
  latest.current = subject
  const [isSending, setSending] = useState(false)
  const [trouble, setTrouble] = useState<Trouble | null>(null)
  const [results, setResults] = useState<readonly SweepResult[]>([])
  const sending = useRef<AbortController | null>(null)
  const isShown = useRef(true)

  const submit = async () => {
    const { draft, spec, sweep, source, from, change } = latest.current
    if (sending.current || spec === null || sweep.trouble !== null) return
    sending.current = new AbortController()
    const { signal } = sending.current
    setSending(true)
    setTrouble(null)
    setResults([])
    change({ sentAt: Date.now() })
    const found =
      sweep.combinations.length === 0
        ? await submitOne(toInput(spec, draft.key), signal)
        : await sendSweep({ ...latest.current, spec, signal, report: setResults })
    sending.current = null
    setSending(false)
    if ('__typename' in found) {
      removeDraft(source)
      showSubmitted(found, from)
      if (isShown.current) void navigate({ to: '/jobs/$id', params: { id: found.job.id }, replace: true })
    } else if ('value' in found) {
      removeDraft(source)
      showToast(`Submitted ${found.count} jobs`)
      const params = { key: 'sweep', value: found.value }
      if (isShown.current) void navigate({ to: '/sweeps/$key/$value', params, replace: true })
    } else {
      change({ sentAt: null })
      setTrouble(found)
    }
  }

  useEffect(() => {
    isShown.current = true
    const { sentAt } = latest.current.draft
    if (sentAt !== null && Date.now() - sentAt < continuedMsMax) void submit()
    return () => {
      isShown.current = false
    }
  }, [])

  return {
    isSending,
    trouble,
    results,
    submit: () => void submit(),
    stop: () => sending.current?.abort(),
    clear: () => setTrouble(null),
  }
}

interface SweepRun extends Subject {
  spec: DraftSpec
  signal: AbortSignal
  report: (results: readonly SweepResult[]) => void
}

async function sendSweep({ spec, sweep, draft, signal, report }: SweepRun) {
  const value = labelSweep(spec, draft.key)
  const specs = sweepSpecs(spec, { sweep, label: value })
  return (await submitSweep({ specs, key: draft.key, signal, report })) ?? { value, count: specs.length }
}

function showSubmitted({ job, warnings, idempotentHit }: SubmittedJob, from: string | undefined) {
  jobStore.put(job)
  const name = nameJob(job)
  showToast(idempotentHit ? `${name} was submitted before` : `Submitted ${name}`)
  for (const warning of warnings) showToast(warning)
  if (from) void offerCancel(from)
}
