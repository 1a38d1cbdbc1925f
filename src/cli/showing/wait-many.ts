import type { JobRowFragment, LiveJobFragment } from '../../client/generated/graphql.ts'
import type { Cli } from '../frame/cli.ts'
import { findWorstExitCode } from '../frame/exit.ts'
import { followJobs } from './live.ts'
import { countJobs, formatState } from './render.ts'

/** Waits for the jobs of a sweep or a label by one live list. */

/** Maximum number of ids in a filter. */
export const waitedJobsMax = 1_000
const failuresShown = 10

interface Waiting {
  any?: boolean | undefined
  isDone: (job: LiveJobFragment) => boolean
}

/** Shows a line with the number of jobs in each state until all jobs are done. Returns them, without deleted ones. */
export async function waitForMany(
  cli: Cli,
  ids: readonly string[],
  { any, isDone }: Waiting,
): Promise<LiveJobFragment[]> {
  const selection = { filter: { ids: [...ids] }, orderBy: undefined, first: ids.length }
  for await (const { rows } of followJobs(cli, selection)) {
    const done = rows.filter(isDone)
    cli.terminal.progress(`${done.length} of ${countJobs(rows.length)} have ended: ${stateCounts(rows)}`)
    if (any ? done.length === 0 && rows.length > 0 : done.length < rows.length) continue
    cli.terminal.progress(null)
    return any ? done.slice(0, 1) : done
  }
  return []
}

function stateCounts(jobs: readonly Pick<JobRowFragment, 'state'>[]): string {
  const counts = new Map<string, number>()
  for (const { state } of jobs) counts.set(state, (counts.get(state) ?? 0) + 1)
  return [...counts].map(([state, count]) => `${count} ${state}`).join(', ')
}

/** Prints how the jobs ended. Exits with the code of the worst, unless a job was refused before. */
export function reportEnds(cli: Cli, jobs: readonly JobRowFragment[], isRefused: boolean): void {
  const failed = jobs.filter(({ state }) => state !== 'SUCCEEDED')
  for (const job of failed.slice(0, failuresShown)) cli.terminal.say(`${job.id} ${formatState(job)}`)
  cli.terminal.say(`berth: ${countJobs(jobs.length)}: ${stateCounts(jobs)}`)
  if (!isRefused) cli.exitWith(findWorstExitCode(jobs))
}
