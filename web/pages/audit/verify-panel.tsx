import { useState } from 'react'
import { VerifyAuditLogDocument, type VerifyAuditLogQuery } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Form, TextField } from '../../parts/form.tsx'
import { formatCount } from '../../parts/format.ts'
import { SidePanel } from '../../parts/side-panel.tsx'
import styles from './audit.module.css'

type Verification = VerifyAuditLogQuery['verifyAudit']

/** Lets the server verify the hash chain of the whole log, or of a part. */
export function VerifyPanel({ onClose }: { onClose: () => void }) {
  const [from, setFrom] = useState('')
  const [to, setTo] = useState('')
  const [result, setResult] = useState<Verification | null>(null)
  const verify = async () => {
    setResult(null)
    const range = { ...(from && { fromSeq: Number(from) }), ...(to && { toSeq: Number(to) }) }
    setResult((await client.request(VerifyAuditLogDocument, range)).verifyAudit)
    return null
  }
  const command = ['berth audit verify', from && `--from ${from}`, to && `--to ${to}`].filter(Boolean).join(' ')
  return (
    <SidePanel title="Verify the log" onClose={onClose}>
      <p className={styles.help}>
        Each entry has a hash over its fields and the entry before it. The server computes them again and compares them
        with those recorded outside the database.
      </p>
      <Form submitText="Verify" onSubmit={verify}>
        <div className={styles.range}>
          <TextField label="From number" type="number" min={1} placeholder="1" value={from} onChange={setFrom} />
          <TextField label="To number" type="number" min={1} placeholder="newest" value={to} onChange={setTo} />
        </div>
      </Form>
      {result && <Verdict result={result} />}
      <p className={styles.command}>
        <code>{command}</code>
        <CopyButton text={command} what="command" />
      </p>
    </SidePanel>
  )
}

function Verdict({ result }: { result: Verification }) {
  const { ok, fromSeq, toSeq, headSeq, firstBadSeq, message } = result
  const range = `entries ${formatCount(fromSeq)} to ${formatCount(toSeq)}`
  if (ok)
    return (
      <p className={styles.good} role="status">
        {headSeq === 0 ? 'The log is empty.' : `Unchanged: ${range} of ${formatCount(headSeq)}.`}
      </p>
    )
  return (
    <p className={styles.bad} role="alert">
      Changed{firstBadSeq !== null && ` at entry ${formatCount(firstBadSeq)}`}: {message} Checked {range} of{' '}
      {formatCount(headSeq)}.
    </p>
  )
}
