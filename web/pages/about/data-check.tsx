import { useState } from 'react'
import { CheckDataDocument, type CheckDataQuery } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { Button } from '../../parts/button.tsx'
import { plural } from '../../parts/format.ts'
import { ObjectLink } from '../../parts/object-link.tsx'
import { FailedInline } from '../../parts/page-states.tsx'
import { formatServerText } from '../../parts/server-text.ts'
import { Time } from '../../parts/time.tsx'
import styles from './about.module.css'

/** Runs the self-check on request only, because the server reads every job for it. */
export function DataCheck() {
  const [result, setResult] = useState<CheckDataQuery['selfCheck'] | null>(null)
  const [failure, setFailure] = useState<unknown>(null)
  const [isBusy, setBusy] = useState(false)
  const check = async () => {
    setBusy(true)
    setFailure(null)
    try {
      setResult((await client.request(CheckDataDocument, {})).selfCheck)
    } catch (error) {
      setFailure(error)
    }
    setBusy(false)
  }
  return (
    <div className={styles.data}>
      <p>
        <Button disabled={isBusy} onClick={() => void check()}>
          {isBusy ? 'Checking…' : 'Check the stored data'}
        </Button>
      </p>
      {failure !== null && <FailedInline failure={failure} />}
      {result && (
        <p role="status" className={result.ok ? styles.good : styles.trouble}>
          {result.ok ? 'No rule is violated.' : `${plural(result.findings.length, 'violation')} found.`}{' '}
          <Time at={result.at} />
        </p>
      )}
      {result && !result.ok && (
        <ul className={styles.findings}>
          {result.findings.map(({ rule, message, objectId }) => (
            <li key={`${rule} ${objectId} ${message}`}>
              <strong>{rule}</strong> {formatServerText(message)} {objectId && <ObjectLink id={objectId} />}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
