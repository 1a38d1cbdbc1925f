import type { Command } from 'commander'
import { CancelJobDocument } from '../../client/generated/graphql.ts'
import { type Cli, expectSuccess } from '../cli.ts'
import { runForEach } from '../each.ts'
import { seeJobs } from '../exit.ts'
import { addOutputOption, type OutputOptions, printJobs } from '../output.ts'

export function registerCancelCommand(program: Command, cli: Cli): void {
  addOutputOption(program.command('cancel').argument('<job...>'))
    .description('cancel jobs')
    .option('--reason <text>', 'reason, recorded in the history of the job')
    .action(async (ids: string[], { output, reason }: OutputOptions & { reason?: string }) => {
      const jobs = await runForEach(cli, ids, async (jobId) => {
        // Safe to retry: a second cancel changes nothing.
        const { cancelJob } = await cli
          .connection()
          .request(CancelJobDocument, { input: { jobId, reason } }, { attempts: 4 })
        return expectSuccess(cancelJob, 'CancelJobSuccess', seeJobs).job
      })
      await printJobs(cli, jobs, output)
    })
}
