import type { Command } from 'commander'
import { RejectJobDocument } from '../../client/generated/graphql.ts'
import { type Cli, type OutputOptions, printJobs, successOf, withOutput } from '../cli.ts'
import { forEachGiven } from '../each.ts'
import { readWhole } from '../numbers.ts'
import { versionOf } from './approve.ts'

export function addReject(program: Command, cli: Cli): void {
  withOutput(program.command('reject').argument('<job...>'))
    .description('reject jobs that wait for approval')
    .requiredOption('--reason <text>', 'reason, shown to the submitter')
    .option('--at <version>', 'only if the job still has this version', readWhole)
    .action(async (ids: string[], { output, reason, at }: OutputOptions & { reason: string; at?: number }) => {
      const jobs = await forEachGiven(cli, ids, async (jobId) => {
        const input = { jobId, reason, expectedVersion: at ?? (await versionOf(cli, jobId)) }
        const { rejectJob } = await cli.connection().request(RejectJobDocument, { input })
        return successOf(rejectJob, 'RejectJobSuccess').job
      })
      await printJobs(cli, jobs, output)
    })
}
