import type { Command } from 'commander'
import { CancelJobDocument } from '../../client/generated/graphql.ts'
import { type Cli, type OutputOptions, printJobs, successOf, withOutput } from '../cli.ts'
import { forEachGiven } from '../each.ts'
import { seeJobs } from '../exit.ts'

export function addCancel(program: Command, cli: Cli): void {
  withOutput(program.command('cancel').argument('<job...>'))
    .description('cancel jobs; final jobs stay unchanged')
    .option('--reason <text>', 'reason, recorded in the history of the job')
    .action(async (ids: string[], { output, reason }: OutputOptions & { reason?: string }) => {
      const jobs = await forEachGiven(cli, ids, async (jobId) => {
        const input = { jobId, ...(reason === undefined ? {} : { reason }) }
        // A repeated cancel changes nothing, so it may be sent again.
        const { cancelJob } = await cli.connection().request(CancelJobDocument, { input }, { attempts: 4 })
        return successOf(cancelJob, 'CancelJobSuccess', seeJobs).job
      })
      await printJobs(cli, jobs, output)
    })
}
