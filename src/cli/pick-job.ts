import { JobsDocument, WhoAmIDocument } from '../client/generated/graphql.ts'
import type { Cli } from './cli.ts'
import { usageError } from './exit.ts'
import { stateText } from './render.ts'

/** Lets a person choose the job that a command needs: a number chooses, a text narrows the list. */

const shownMax = 10

export async function pickJob(cli: Cli, question: (text: string) => Promise<string>): Promise<string> {
  for (let text: string | undefined; ; ) {
    const jobs = await readJobs(cli, text)
    if (jobs.length === 0 && text === undefined)
      throw usageError('the job is missing', 'you have no jobs; "berth submit" submits one')
    for (const [i, job] of jobs.entries())
      cli.terminal.say(`${String(i + 1).padStart(2)}  ${job.id}  ${stateText(job)}  ${job.name ?? ''}`)
    const answer = (await question('Which job? A number, or a text to search: ')).trim()
    const chosen = /^\d{1,2}$/.test(answer) ? jobs[Number(answer) - 1] : undefined
    if (chosen) return chosen.id
    if (answer === '') throw usageError('the job is missing', 'pass its id')
    text = answer
  }
}

/** Jobs of this user, first those that are not final. */
async function readJobs(cli: Cli, text: string | undefined) {
  const { request } = cli.connection()
  const { viewer } = await request(WhoAmIDocument, {})
  const own = { users: [viewer.user.id], text }
  const read = async (filter: object) =>
    (await request(JobsDocument, { first: shownMax, filter: { ...own, ...filter } })).jobs.nodes
  const live = await read({ stateCategories: ['ACTIVE', 'WAITING'] })
  const final = live.length < shownMax ? await read({ stateCategories: ['FINAL'] }) : []
  return [...live, ...final].slice(0, shownMax)
}
