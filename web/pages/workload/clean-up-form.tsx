import { useState } from 'react'
import { actOnMatching, type BulkRequest, countMatching } from '../../features/jobs/actions/act-on-jobs.ts'
import { client } from '../../ground/connection.ts'
import { useResource } from '../../ground/resource.ts'
import { serverNowMs } from '../../ground/server-clock.ts'
import { Form, type Refusal, refusal, TextField } from '../../parts/form.tsx'
import { formatCount, plural } from '../../parts/format.ts'
import { showToast } from '../../parts/toasts.tsx'

const dayMs = 86_400_000
const daysMax = 365
const untypedMax = 20

const request: BulkRequest = { action: 'DELETE', idempotencyKey: '' }

const readDays = (text: string) =>
  /^\d{1,3}$/.test(text) && Number(text) >= 1 && Number(text) <= daysMax ? Number(text) : null

/** A form that deletes jobs that ended more than N days ago, in all pools. It shows their number first. */
export function CleanUpForm({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('30')
  const [typed, setTyped] = useState('')
  const days = readDays(text.trim())
  const found = useResource(`old jobs ${days}`, () => countOldJobs(days ?? 0), { isOff: days === null })
  const count = found.value?.count ?? 0
  const submit = async () => {
    if (days === null) return refusal(`Days: 1 to ${daysMax}`)
    if (!found.value) return refusal('The jobs are still being counted.')
    if (found.value.refusal !== null) return refusal(found.value.refusal)
    if (count > untypedMax && typed.replaceAll(',', '').trim() !== String(count))
      return refusal(`Type ${count} to confirm.`)
    return cleanUp(found.value, onClose)
  }
  return (
    <Form submitText="Delete" onCancel={onClose} onSubmit={submit}>
      <TextField
        label="Ended more than … days ago"
        path="olderThanDays"
        inputMode="numeric"
        value={text}
        onChange={setText}
      />
      <p aria-live="polite">{days !== null && found.value ? describeEffect(found.value) : 'Counting…'}</p>
      {count > untypedMax && (
        <TextField label={`Type ${count} to confirm`} inputMode="numeric" value={typed} onChange={setTyped} />
      )}
      <code>berth rm --finished-until {days ?? '…'}d</code>
    </Form>
  )
}

interface OldJobs {
  filter: { finishedBefore: string }
  count: number
  /** Why the jobs cannot be deleted; null: they can. */
  refusal: string | null
}

const describeEffect = ({ count, refusal: why }: OldJobs) =>
  why ??
  `Deletes ${formatCount(count)} ended ${count === 1 ? 'job' : 'jobs'} of all pools, with logs, events and artifacts, for good. Jobs that wait or run, and jobs that they depend on, stay.`

async function countOldJobs(days: number): Promise<OldJobs> {
  const filter = { finishedBefore: new Date(serverNowMs() - days * dayMs).toISOString() }
  const found = await countMatching(client, request, filter)
  return 'refusal' in found ? { filter, count: 0, refusal: found.refusal } : { filter, ...found, refusal: null }
}

async function cleanUp({ filter, count }: OldJobs, onDone: () => void): Promise<Refusal | null> {
  const result = await actOnMatching(client, request, { filter, expectedCount: count }, () => undefined)
  if (result.kind === 'MISMATCH') return refusal(`Now ${plural(result.actualCount, 'job')} match; open the form again.`)
  if (result.kind === 'REFUSED') return refusal(result.message)
  showToast(`Deleted ${plural(result.done, 'job')}`)
  onDone()
  return null
}
