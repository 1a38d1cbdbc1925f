import type { Command } from 'commander'
import { type Cli, type OutputOptions, printJobs, withOutput } from '../cli.ts'
import { exitCodeOfJob } from '../exit.ts'
import { detachOnInterrupt, findJob, tellWaiting, untilFinal } from '../watch.ts'

export function addWait(program: Command, cli: Cli): void {
  withOutput(program.command('wait').argument('<job...>'))
    .description('wait for jobs to end; the exit code is that of the first job that did not succeed')
    .action(async (ids: string[], { output }: OutputOptions) => {
      for (const id of ids) await findJob(cli, id)
      detachOnInterrupt(cli, ids.join(' '))
      for (const id of ids) tellWaiting(cli, id)
      const jobs = await Promise.all(ids.map((id) => untilFinal(cli, id)))
      await printJobs(cli, jobs, output)
      cli.exitWith(jobs.map(exitCodeOfJob).find((code) => code !== 0) ?? 0)
    })
}
