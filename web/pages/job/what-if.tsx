import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { client } from '../../app/connection.ts'
import { type Resource, useResource } from '../../app/resource.ts'
import { useNow } from '../../app/server-clock.ts'
import { useStart } from '../../app/server-facts.ts'
import { type JobSpecInput, PreviewChangeDocument, type PreviewChangeQuery } from '../../generated/graphql.ts'
import { Button } from '../../parts/button.tsx'
import { formatClock } from '../../parts/format.ts'
import { FailedInline } from '../../parts/page-states.tsx'
import { Table } from '../../parts/table.tsx'
import { type Spec, toSpecInput } from '../../spec/spec-input.ts'
import { linkToSubmit } from '../../spec/spec-link.ts'
import { listProposals } from './proposals.ts'
import { ReasonText } from './reason-text.tsx'
import type { PageJob } from './use-job.ts'
import styles from './why-it-waits.module.css'

type Preview = PreviewChangeQuery['previewJob']

interface Answer {
  text: string
  spec: JobSpecInput
  preview: Preview
  /** null: unknown, or it would not start. */
  startMs: number | null
}

interface WhatIfProps {
  job: PageJob
  spec: Spec
  queues: readonly { name: string }[]
}

/** When changed copies of a waiting job would start, by dry runs. Only for those who may submit them. */
export function WhatIf({ job, spec, queues }: WhatIfProps) {
  const { viewer } = useStart()
  const mayUse = viewer.user.id === job.user.id && viewer.permissions.includes('JOB_SUBMIT')
  const isHeldByGate = job.scheduling?.gates.some(({ open }) => !open) ?? false
  const proposals = listProposals(spec, queues)
  const answers = useResource(
    `what if ${job.id} ${proposals.map(({ text }) => text).join()}`,
    (signal) =>
      Promise.all(
        proposals.map(async ({ text, change }): Promise<Answer> => {
          const changed = change(toSpecInput(spec))
          const input = { submit: { spec: changed } }
          const { previewJob } = await client.request(PreviewChangeDocument, { input }, { attempts: 4, signal })
          return { text, spec: changed, preview: previewJob, startMs: findStart(previewJob) }
        }),
      ),
    { isOff: !mayUse || isHeldByGate },
  )
  if (!mayUse || isHeldByGate || proposals.length === 0) return null
  return (
    <div>
      <h3>
        What if
        <Button look="quiet" onClick={answers.read}>
          Look again
        </Button>
      </h3>
      <Answers job={job} answers={answers} />
      <p className={styles.faint}>Each as one more job, while this one still waits.</p>
    </div>
  )
}

function findStart(preview: Preview): number | null {
  if (preview.__typename !== 'JobPreview') return null
  const { p50 = null, earliest = null } = preview.estimatedStart ?? {}
  const at = p50 ?? earliest
  return at === null ? null : Date.parse(at)
}

function Answers({ job, answers }: { job: PageJob; answers: Resource<Answer[]> }) {
  const nowMs = useNow()
  if (answers.failure) return <FailedInline failure={answers.failure} onRetry={answers.read} />
  if (!answers.value) return <p className={styles.faint}>Asking the scheduler …</p>
  const first = (each: Answer) => each.startMs ?? Number.POSITIVE_INFINITY
  const rows = answers.value.toSorted((a, b) => first(a) - first(b))
  return (
    <Table
      label="What if"
      rows={rows}
      getKey={({ text }) => text}
      columns={[
        { title: 'Change', cell: ({ text }) => text },
        { title: 'It would start', cell: (answer) => describeStart(answer, nowMs) },
        {
          title: '',
          cell: ({ preview, spec, text }) =>
            preview.__typename === 'JobPreview' && (
              <Link {...linkToSubmit(spec, job.id)} className={styles.link} aria-label={`Use ${text}`}>
                Use
              </Link>
            ),
        },
      ]}
    />
  )
}

const soonMs = 60_000

function describeStart({ preview, startMs }: Answer, nowMs: number): ReactNode {
  if (preview.__typename !== 'JobPreview') return `refused: ${preview.message}`
  if (preview.wouldBe === 'STARTING') return `now, on ${preview.nodeNames.join(', ')}`
  if (preview.wouldBe === 'BLOCKED') return 'after an approval'
  const [reason] = preview.reasons
  const start =
    startMs === null ? 'unknown' : startMs - nowMs < soonMs ? 'within a minute' : formatClock(startMs, nowMs)
  return (
    <>
      {start}
      {reason && ': '}
      {reason && <ReasonText message={reason.message} job={reason.job} />}
    </>
  )
}
