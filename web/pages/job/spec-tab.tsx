import { useState } from 'react'
import { stringify } from 'yaml'
import { baseUrl } from '../../app/connection.ts'
import { Button } from '../../parts/button.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { quoteShell } from '../../parts/format.ts'
import styles from './spec-tab.module.css'
import type { PageJob, Spec } from './use-job.ts'

const forms = ['YAML', 'CLI', 'curl'] as const
type Form = (typeof forms)[number]

/** Fields that say something: null, false and empty lists are defaults. */
export function trimSpec(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(trimSpec)
  if (value === null || typeof value !== 'object') return value
  const entries = Object.entries(value)
    .map(([key, each]) => [key, trimSpec(each)] as const)
    .filter(([key, each]) => key !== '__typename' && each !== null && each !== false && !isEmpty(each))
  return Object.fromEntries(entries)
}

const isEmpty = (value: unknown) => typeof value === 'object' && value !== null && Object.keys(value).length === 0

export function formatCommand(spec: Spec, job: Pick<PageJob, 'name'>): string {
  const { command, executable, resources, image, queue, maxRunTimeSeconds } = spec
  const gib = resources.memoryBytes / 1024 ** 3
  const options = [
    job.name !== null && `--name ${quoteShell(job.name)}`,
    `--queue ${quoteShell(queue)}`,
    `--cpu ${resources.cpu}`,
    Number.isInteger(gib) && `--mem ${gib}`,
    resources.gpu > 0 && `--gpu ${resources.gpu}`,
    image !== null && `--image ${quoteShell(image)}`,
    maxRunTimeSeconds > 0 && `--max-run-time ${maxRunTimeSeconds}`,
  ]
  const words = command ?? (executable === null ? [] : [executable, ...(spec.arguments ?? [])])
  return `berth submit ${options.filter(Boolean).join(' ')} -- ${words.map(quoteShell).join(' ')}`
}

const mutation =
  'mutation ($input: SubmitJobInput!) { submitJob(input: $input) { ... on SubmitJobSuccess { job { id state } } ... on Problem { code message } } }'

export function formatCurl(spec: Spec, job: Pick<PageJob, 'name'>, url: string): string {
  const input = { spec: { ...(job.name !== null && { name: job.name }), ...(trimSpec(spec) as object) } }
  const body = JSON.stringify({ query: mutation, variables: { input } })
  return `curl -s ${url}graphql -H 'content-type: application/json' -d ${quoteShell(body)}`
}

export function SpecTab({ job, spec }: { job: PageJob; spec: Spec }) {
  const [form, setForm] = useState<Form>('YAML')
  const text = {
    YAML: () =>
      stringify({ ...(job.name !== null && { name: job.name }), ...(trimSpec(spec) as object) }, { lineWidth: 0 }),
    CLI: () => formatCommand(spec, job),
    curl: () => formatCurl(spec, job, baseUrl),
  }[form]()
  return (
    <section className={styles.box} aria-label="Spec">
      <div className={styles.bar}>
        {forms.map((each) => (
          <Button key={each} look="quiet" aria-pressed={each === form} onClick={() => setForm(each)}>
            {each}
          </Button>
        ))}
        <CopyButton text={text} what={form} />
      </div>
      <pre className={styles.text}>{text}</pre>
    </section>
  )
}
