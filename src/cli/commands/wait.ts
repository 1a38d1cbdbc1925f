import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import {
  type JobRowFragment,
  JobRowFragmentDoc,
  type JobState,
  type LabelFilter,
  type LiveJobFragment,
} from '../../client/generated/graphql.ts'
import type { Cli } from '../frame/cli.ts'
import { exitCodes, findWorstExitCode, MissingJob, Stop, seeJobs, usageError } from '../frame/exit.ts'
import { readChoices } from '../reading/choices.ts'
import { readLabel } from '../reading/filter.ts'
import { readJobs } from '../reading/pages.ts'
import { readSeconds } from '../reading/times.ts'
import { addOutputOption, type OutputOptions, printJobs } from '../showing/output.ts'
import { stateStyles } from '../showing/render.ts'
import { waitedJobsMax, waitForMany } from '../showing/wait-many.ts'
import { detachOnInterrupt, findJob, reportWaiting, waitUntilFinal } from '../showing/watch.ts'

interface WaitOptions extends OutputOptions {
  label?: LabelFilter[]
  any?: true
  state?: JobState[]
  timeout?: number
  notify?: true
}

export function registerWaitCommand(program: Command, cli: Cli): void {
  addOutputOption(program.command('wait').argument('[job...]'), [JobRowFragmentDoc])
    .summary('wait until jobs end')
    .description(
      'wait until jobs end; the exit code is that of the worst job: failed, then interrupted, then cancelled',
    )
    .option('-l, --label <key[=value]>', `all jobs with this label, up to ${waitedJobsMax}; may be repeated`, readLabel)
    .option('--any', 'wait only until one of the jobs ends')
    .option('--state <state...>', 'wait until the jobs reach one of these states; then exits with 0', readState)
    .option('--timeout <time>', 'give up after this time, with exit code 4: 90s, 10m', readSeconds)
    .option('--notify', 'notify the desktop through the terminal when the jobs have ended or reached --state')
    .action(async (ids: string[], options: WaitOptions) => {
      const { output, any, state: states = [], timeout, notify, label } = options
      if (ids.length > 0 && label) throw usageError('pass jobs or --label, not both')
      if (ids.length === 0 && !label) throw new MissingJob(`pass its id or --label; ${seeJobs}`)
      const ended = label ? waitForLabel(cli, label, options) : waitForEach(cli, ids, options)
      const jobs = await Promise.race([ended, ...(timeout === undefined ? [] : [giveUpAfter(cli, timeout)])])
      if (notify) cli.terminal.notify(jobs.map(({ id, name, state }) => `${name ?? id}: ${state}`).join(', '))
      await printJobs(cli, jobs, output)
      cli.exitWith(findWorstExitCode(jobs.filter(({ state }) => !states.includes(state))))
      if (any) await cli.connection().close()
    })
}

async function waitForEach(
  cli: Cli,
  ids: string[],
  { any, state: states = [] }: WaitOptions,
): Promise<JobRowFragment[]> {
  for (const id of ids) await findJob(cli, id)
  detachOnInterrupt(cli, ids.join(' '))
  for (const id of ids) reportWaiting(cli, id)
  const waits = ids.map((id) => waitUntilFinal(cli, id, { states }))
  return any ? [await Promise.any(waits)] : Promise.all(waits)
}

async function waitForLabel(cli: Cli, labels: LabelFilter[], { any, state: states = [] }: WaitOptions) {
  const found = await readJobs(cli, waitedJobsMax + 1, { filter: { labels } })
  if (found.length === 0) throw new Stop(exitCodes.notFound, 'no job has the label', seeJobs)
  if (found.length > waitedJobsMax)
    throw usageError(`more than ${waitedJobsMax} jobs have the label`, 'pass another --label too')
  cli.leaveOnInterrupt('detached; the jobs continue')
  const isDone = ({ state, stateCategory }: LiveJobFragment) => stateCategory === 'FINAL' || states.includes(state)
  return waitForMany(
    cli,
    found.map(({ id }) => id),
    { any, isDone },
  )
}

async function giveUpAfter({ ended: signal }: Cli, seconds: number): Promise<never> {
  await sleep(seconds * 1_000, undefined, { ref: false, signal })
  throw new Stop(exitCodes.retryable, `the jobs did not end within ${seconds} s`, 'they continue; wait again')
}

const readState = readChoices(Object.keys(stateStyles) as JobState[])
