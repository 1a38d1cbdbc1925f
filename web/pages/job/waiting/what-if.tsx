import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { ReasonText } from '../../../features/jobs/reason-text.tsx'
import { describeEstimate } from '../../../features/jobs/rows/describe-estimate.ts'
import { type Spec, toSpecInput } from '../../../features/spec/spec-input.ts'
import { linkToSubmit } from '../../../features/spec/spec-link.ts'
import { type JobSpecInput, PreviewChangeDocument, type PreviewChangeQuery } from '../../../generated/graphql.ts'
import { client } from '../../../ground/connection.ts'
import { type Resource, useResource } from '../../../ground/resource.ts'
import { useNow } from '../../../ground/server-clock.ts'
import { useStart } from '../../../ground/server-facts.ts'
import { Button } from '../../../parts/button.tsx'
import { FailedInline } from '../../../parts/page-states.tsx'
import { formatServerText } from '../../../parts/server-text.ts'
import { Table } from '../../../parts/table.tsx'
import type { PageJob } from '../use-job.ts'
import { listProposals } from './proposals.ts'
import styles from './why-it-waits.module.css'

type Preview = PreviewChangeQuery['previewJob']

interface Answer {
  text: string
  spec: JobSpecInput
  preview: Preview
}

interface WhatIfProps {
  job: PageJob
  spec: Spec
  queues: readonly { name: string }[]
}

/** Shows, by dry runs, when changed copies of a waiting job would start. Only its user with JOB_SUBMIT sees them. */
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
          return { text, spec: changed, preview: previewJob }
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

/** Returns a rank for sorting: copies that may start earlier come first. */
function rankStart(preview: Preview): number {
  if (preview.__typename !== 'JobPreview') return Number.MAX_SAFE_INTEGER
  const at = preview.estimatedStart?.p50 ?? preview.estimatedStart?.earliest
  return at == null ? Number.MAX_SAFE_INTEGER : Date.parse(at)
}

function Answers({ job, answers }: { job: PageJob; answers: Resource<Answer[]> }) {
  const nowMs = useNow()
  if (answers.failure) return <FailedInline failure={answers.failure} onRetry={answers.read} />
  if (!answers.value) return <p className={styles.faint}>Asking the scheduler …</p>
  const rows = answers.value.toSorted((a, b) => rankStart(a.preview) - rankStart(b.preview))
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

function describeStart({ preview }: Answer, nowMs: number): ReactNode {
  if (preview.__typename !== 'JobPreview') return `refused: ${formatServerText(preview.message)}`
  if (preview.wouldBe === 'STARTING') return `now, on ${preview.nodeNames.join(', ')}`
  if (preview.wouldBe === 'BLOCKED') return 'after an approval'
  const [reason] = preview.reasons
  const start = (preview.estimatedStart && describeEstimate(preview.estimatedStart, nowMs)) ?? 'no estimate'
  return (
    <>
      {start}
      {reason && ': '}
      {reason && <ReasonText message={reason.message} job={reason.job} />}
    </>
  )
}
