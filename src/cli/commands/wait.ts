import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { JobRowFragmentDoc, type JobState } from '../../client/generated/graphql.ts'
import { readChoices } from '../choices.ts'
import type { Cli } from '../cli.ts'
import { exitCodes, jobExitCode, Stop } from '../exit.ts'
import { addOutputOption, type OutputOptions, printJobs } from '../output.ts'
import { stateStyles } from '../render.ts'
import { readSeconds } from '../times.ts'
import { detachOnInterrupt, findJob, reportWaiting, waitUntilFinal } from '../watch.ts'

interface WaitOptions extends OutputOptions {
  any?: true
  state?: JobState[]
  timeout?: number
  notify?: true
}

export function registerWaitCommand(program: Command, cli: Cli): void {
  addOutputOption(program.command('wait').argument('<job...>'), [JobRowFragmentDoc])
    .summary('wait until jobs end')
    .description('wait until jobs end; exits with the exit code of the first job that did not succeed')
    .option('--any', 'wait only until one of the jobs ends')
    .option('--state <state...>', 'wait until the jobs reach one of these states; then exits with 0', readState)
    .option('--timeout <time>', 'give up after this time, with exit code 4: 90s, 10m', readSeconds)
    .option('--notify', 'notify the desktop through the terminal when the jobs have ended or reached --state')
    .action(async (ids: string[], { output, any, state: states = [], timeout, notify }: WaitOptions) => {
      for (const id of ids) await findJob(cli, id)
      detachOnInterrupt(cli, ids.join(' '))
      for (const id of ids) reportWaiting(cli, id)
      const waits = ids.map((id) => waitUntilFinal(cli, id, { states }))
      const ended = any ? Promise.any(waits).then((job) => [job]) : Promise.all(waits)
      const jobs = await Promise.race([ended, ...(timeout === undefined ? [] : [giveUpAfter(cli, timeout)])])
      if (notify) cli.terminal.notify(jobs.map(({ id, name, state }) => `${name ?? id}: ${state}`).join(', '))
      await printJobs(cli, jobs, output)
      const failed = jobs.filter(({ state }) => !states.includes(state)).map(jobExitCode)
      cli.exitWith(failed.find((code) => code !== 0) ?? 0)
      if (any) await cli.connection().close()
    })
}

async function giveUpAfter({ ended: signal }: Cli, seconds: number): Promise<never> {
  await sleep(seconds * 1_000, undefined, { ref: false, signal })
  throw new Stop(exitCodes.retryable, `the jobs did not end within ${seconds} s`, 'they continue; wait again')
}

const readState = readChoices(Object.keys(stateStyles) as JobState[])
