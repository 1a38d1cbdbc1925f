import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { baseUrl } from '../../app/connection.ts'
import { Button } from '../../parts/button.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { saveFile } from '../../parts/save-file.ts'
import { formatPsij } from '../../spec/psij-copy.ts'
import { formatCommandLine, formatCurl, formatPython, formatTypeScript, formatYaml } from '../../spec/spec-copies.ts'
import { type Spec, toFilledIn, toSpecInput } from '../../spec/spec-input.ts'
import styles from './spec-tab.module.css'
import type { PageJob } from './use-job.ts'

const forms = {
  yaml: { title: 'YAML', format: formatYaml, file: 'yaml' },
  cli: { title: 'CLI', format: formatCommandLine, file: 'sh' },
  curl: { title: 'curl', format: formatCurl, file: 'sh' },
  ts: { title: 'TypeScript', format: formatTypeScript, file: 'ts' },
  python: { title: 'Python', format: formatPython, file: 'py' },
  psij: { title: 'PSI/J', format: formatPsij, file: 'ts' },
} as const
type Form = keyof typeof forms

const isForm = (text: string | undefined): text is Form => text !== undefined && text in forms

/** The spec as it was submitted, in the languages that can submit it again, and the values that Berth filled in. */
export function SpecTab({ job, spec }: { job: PageJob; spec: Spec }) {
  const navigate = useNavigate()
  const search = useSearch({ strict: false }) as { as?: string }
  const shown: Form = isForm(search.as) ? search.as : 'yaml'
  const input = useMemo(() => toSpecInput(spec), [spec])
  const { title, format, file } = forms[shown]
  const text = format(input, baseUrl)
  const save = () => saveFile(`${job.name ?? job.id}.${file}`, text, 'text/plain')
  return (
    <section className={styles.box} aria-label="Spec">
      <div className={styles.bar} role="toolbar" aria-label="Copy as">
        {Object.entries(forms).map(([name, each]) => (
          <Button
            key={name}
            look="quiet"
            aria-pressed={name === shown}
            onClick={() =>
              void navigate({
                to: '/jobs/$id/$tab',
                params: { id: job.id, tab: 'spec' },
                search: { as: name === 'yaml' ? undefined : name },
                replace: true,
              })
            }
          >
            {each.title}
          </Button>
        ))}
        <span className={styles.space} />
        <CopyButton text={text} what={title} />
        <Button look="quiet" onClick={save}>
          Save file
        </Button>
      </div>
      <pre className={styles.text}>{text}</pre>
      {shown === 'yaml' && (
        <>
          <h3 className={styles.heading}>Filled in by Berth</h3>
          <pre className={`${styles.text} ${styles.filled}`}>{formatYaml(toFilledIn(spec))}</pre>
        </>
      )}
    </section>
  )
}
