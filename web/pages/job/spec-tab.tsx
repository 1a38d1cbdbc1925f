import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { formatYaml, specForms } from '../../features/spec/spec-copies.ts'
import { type Spec, toFilledIn, toSpecInput } from '../../features/spec/spec-input.ts'
import { baseUrl } from '../../ground/connection.ts'
import { Button } from '../../parts/button.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { saveFile } from '../../parts/save-file.ts'
import { nameJob } from '../../parts/server-text.ts'
import styles from './spec-tab.module.css'
import type { PageJob } from './use-job.ts'

type Form = keyof typeof specForms

const isForm = (text: string | undefined): text is Form => text !== undefined && text in specForms

/** Shows the submitted spec in formats that can submit it again, and the values that the server filled in. */
export function SpecTab({ job, spec }: { job: PageJob; spec: Spec }) {
  const navigate = useNavigate()
  const search = useSearch({ strict: false }) as { as?: string }
  const shown: Form = isForm(search.as) ? search.as : 'yaml'
  const input = useMemo(() => toSpecInput(spec), [spec])
  const { title, format, file } = specForms[shown]
  const text = format(input, baseUrl)
  const save = () => saveFile(`${nameJob(job)}.${file}`, text, 'text/plain')
  return (
    <section className={styles.box} aria-label="Spec">
      <div className={styles.bar} role="toolbar" aria-label="Copy as">
        {Object.entries(specForms).map(([name, each]) => (
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
