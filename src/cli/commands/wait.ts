import type { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { jobExitCode } from '../exit.ts'
import { addOutputOption, type OutputOptions, printJobs } from '../output.ts'
import { detachOnInterrupt, findJob, reportWaiting, waitUntilFinal } from '../watch.ts'

export function registerWaitCommand(program: Command, cli: Cli): void {
  addOutputOption(program.command('wait').argument('<job...>'))
    .summary('wait until jobs end')
    .description('wait until jobs end; exits with the exit code of the first job that did not succeed')
    .action(async (ids: string[], { output }: OutputOptions) => {
      for (const id of ids) await findJob(cli, id)
      detachOnInterrupt(cli, ids.join(' '))
      for (const id of ids) reportWaiting(cli, id)
      const jobs = await Promise.all(ids.map((id) => waitUntilFinal(cli, id)))
      await printJobs(cli, jobs, output)
      cli.exitWith(jobs.map(jobExitCode).find((code) => code !== 0) ?? 0)
    })
}
