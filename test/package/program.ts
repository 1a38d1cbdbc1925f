import { createClient, type JobUpdate, RequestFailed } from '@berth-jobs/berth/client'
import { Job, JobExecutor, JobSpec, JobState, TimeInterval } from '@berth-jobs/berth/psij'

/** A program as users write it; only its types are checked. */
const client = createClient({ url: ['http://a', 'http://b'], token: async (refused) => refused ?? 'secret' })

export async function run(signal: AbortSignal): Promise<string | null> {
  const answer = await client.submit({ spec: { command: ['true'] } }, { signal })
  if (answer.__typename !== 'SubmitJobSuccess') return 'message' in answer ? answer.message : null
  for await (const update of client.follow(answer.job.id, { signal })) tell(update)
  for await (const part of client.tail(answer.job.id, { lastLines: 10 }))
    if (part.__typename === 'LogBatch') return part.text
  return null
}

function tell(update: JobUpdate): void {
  if (update.__typename === 'StreamReset') throw new RequestFailed('NOT_FOUND', update.resetReason)
  for (const { seq, to } of update.transitions) console.log(seq + 1, to)
}

export async function runPsij(): Promise<boolean> {
  const jex = JobExecutor.getInstance('local', { client })
  const job = new Job(new JobSpec({ executable: '/bin/true' }))
  await jex.submit(job)
  const status = await job.wait([JobState.ACTIVE], new TimeInterval(10))
  return status?.isFinal ?? false
}
