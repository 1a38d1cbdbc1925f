import { useState } from 'react'
import { isRefused, toRefusal } from '../../actions/refusal.ts'
import { client } from '../../app/connection.ts'
import { useResource } from '../../app/resource.ts'
import { serverNowMs } from '../../app/server-clock.ts'
import { CleanUpJobsDocument, CountOldJobsDocument } from '../../generated/graphql.ts'
import { Field, Form, type Refusal, refusal } from '../../parts/form.tsx'
import { formatCount, plural } from '../../parts/format.ts'
import { showToast } from '../../parts/toasts.tsx'

const dayMs = 86_400_000
const daysMax = 365
const untypedMax = 20
/** Jobs that one call deletes at most. */
const jobsPerCall = 10_000

const readDays = (text: string) =>
  /^\d{1,3}$/.test(text) && Number(text) >= 1 && Number(text) <= daysMax ? Number(text) : null

/** Deletes ended jobs of all pools after a number of days; shows how many first. */
export function CleanUpForm({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('30')
  const [typed, setTyped] = useState('')
  const days = readDays(text.trim())
  const found = useResource(`old jobs ${days}`, (signal) => countOldJobs(days ?? 0, signal), { isOff: days === null })
  const { totalCount, isTotalExact } = found.value ?? { totalCount: 0, isTotalExact: true }
  const count = `${formatCount(totalCount)}${isTotalExact ? '' : ' or more'}`
  const submit = async () => {
    if (days === null) return refusal(`Days: 1 to ${daysMax}`)
    if (!found.value) return refusal('The jobs are still being counted.')
    if (totalCount > untypedMax && typed.replaceAll(',', '').trim() !== String(totalCount))
      return refusal(`Type ${totalCount} to confirm.`)
    return cleanUp(days, onClose)
  }
  return (
    <Form submitText="Delete" onCancel={onClose} onSubmit={submit}>
      {(refused) => (
        <>
          <Field label="Ended more than … days ago" path="olderThanDays" refusal={refused}>
            <input inputMode="numeric" value={text} onChange={({ target }) => setText(target.value)} />
          </Field>
          <p aria-live="polite">
            {days !== null && found.value
              ? `Deletes ${count} ended ${totalCount === 1 ? 'job' : 'jobs'} of all pools, with logs, events and artifacts, for good. Jobs that wait or run stay.`
              : 'Counting…'}
          </p>
          {totalCount > untypedMax && (
            <Field label={`Type ${totalCount} to confirm`}>
              <input inputMode="numeric" value={typed} onChange={({ target }) => setTyped(target.value)} />
            </Field>
          )}
          <code>berth cleanup --older-than {days ?? '…'}d</code>
        </>
      )}
    </Form>
  )
}

async function countOldJobs(days: number, signal: AbortSignal) {
  const finishedBefore = new Date(serverNowMs() - days * dayMs).toISOString()
  const filter = { stateCategories: ['FINAL' as const], finishedBefore }
  const { jobs } = await client.request(CountOldJobsDocument, { filter }, { attempts: 4, signal })
  return jobs
}

async function cleanUp(olderThanDays: number, onDone: () => void): Promise<Refusal | null> {
  let deleted = 0
  for (;;) {
    const { cleanupJobs } = await client.request(CleanUpJobsDocument, { input: { olderThanDays } }, { attempts: 4 })
    if (isRefused(cleanupJobs)) return toRefusal(cleanupJobs)
    deleted += cleanupJobs.deletedCount
    if (cleanupJobs.deletedCount < jobsPerCall) break
  }
  showToast(`Deleted ${plural(deleted, 'job')}`)
  onDone()
  return null
}
