import { createIdempotencyKey } from '@berth-jobs/berth/client'
import { useNavigate } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { SubmitOneDocument } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { useStart } from '../../ground/server-facts.ts'
import { Button } from '../../parts/button.tsx'
import styles from './overview.module.css'

const script = 'for i in 1 2 3 4 5; do echo "Hello from Berth: step $i of 5"; sleep 1; done'

/** Shown in an empty installation: a button that runs a harmless job and opens its page. */
export function FirstJob() {
  const navigate = useNavigate()
  const { viewer } = useStart()
  const [isBusy, setBusy] = useState(false)
  const [refusal, setRefusal] = useState<string | null>(null)
  // With the same key, a second click or a repeated request submits no second job.
  const idempotencyKey = useRef(createIdempotencyKey())
  const run = async () => {
    setBusy(true)
    const input = {
      spec: { name: 'first-job', command: ['sh', '-c', script], resources: { cpu: 0.1, memoryGib: 1 } },
      idempotencyKey: idempotencyKey.current,
    }
    try {
      const { submitJob } = await client.request(SubmitOneDocument, { input }, { attempts: 4 })
      if (submitJob.__typename === 'SubmitJobSuccess')
        return void navigate({ to: '/jobs/$id', params: { id: submitJob.job.id } })
      setRefusal(submitJob.message)
    } catch (error) {
      setRefusal(error instanceof Error ? error.message : String(error))
    }
    setBusy(false)
  }
  return (
    <section className={styles.first}>
      <h2>No jobs yet</h2>
      <p>A first job counts to five, with its log live in the browser. It uses a tenth of a core.</p>
      {viewer.permissions.includes('JOB_SUBMIT') ? (
        <p className={styles.firstActions}>
          <Button look="primary" disabled={isBusy} onClick={() => void run()}>
            Run a first job
          </Button>
          <Button href="./jobs/new">Write one</Button>
        </p>
      ) : (
        <p>You may not submit jobs: that needs the permission job.submit, which an administrator gives.</p>
      )}
      {refusal !== null && (
        <p className={styles.refusal} role="alert">
          {refusal}
        </p>
      )}
      <p className={styles.faint}>
        On the command line: <code>berth submit -- echo Hello</code>
      </p>
    </section>
  )
}
