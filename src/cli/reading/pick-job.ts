import { JobsDocument, type StateCategory, WhoAmIDocument } from '../../client/generated/graphql.ts'
import type { Cli } from '../frame/cli.ts'
import { usageError } from '../frame/exit.ts'
import { sanitizeText } from '../frame/terminal.ts'
import { formatState } from '../showing/render.ts'

const shownMax = 10
const jobsMax = 100

/** Prompts for the job that a command needs. Typing filters the list. */
export async function pickJob(cli: Cli): Promise<string> {
  const jobs = await readJobs(cli)
  if (jobs.length === 0) throw usageError('the job is missing', 'you have no jobs; "berth submit" submits one')
  const { autocomplete, isCancel } = await import('@clack/prompts')
  const id = await autocomplete({
    message: 'Which job?',
    placeholder: 'Type to search',
    maxItems: shownMax,
    options: jobs.map((job) => ({
      value: job.id,
      label: sanitizeText(job.name ?? job.id),
      hint: sanitizeText(job.name === null ? formatState(job) : `${formatState(job)}, ${job.id}`),
    })),
    output: process.stderr,
  })
  if (isCancel(id)) throw usageError('the job is missing', 'pass its id')
  return id
}

/** Reads the newest jobs of this user; jobs that are not final come first. */
async function readJobs(cli: Cli) {
  const { request } = cli.connection()
  const { viewer } = await request(WhoAmIDocument, {})
  const read = async (stateCategories: StateCategory[]) => {
    const filter = { users: [viewer.user.id], stateCategories }
    return (await request(JobsDocument, { first: jobsMax, filter })).jobs.nodes
  }
  const live = await read(['ACTIVE', 'WAITING'])
  return live.length < jobsMax ? [...live, ...(await read(['FINAL']))].slice(0, jobsMax) : live
}
