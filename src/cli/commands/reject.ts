import type { Command } from 'commander'
import { JobRowFragmentDoc, RejectJobDocument } from '../../client/generated/graphql.ts'
import { type Cli, mutate } from '../frame/cli.ts'
import { runForEach } from '../frame/each.ts'
import { readWhole } from '../reading/numbers.ts'
import { addOutputOption, type OutputOptions, printJobs } from '../showing/output.ts'
import { readJobVersion } from './approve.ts'

export function registerRejectCommand(program: Command, cli: Cli): void {
  addOutputOption(program.command('reject').argument('<job...>'), [JobRowFragmentDoc])
    .description('reject jobs')
    .requiredOption('--reason <text>', 'reason, shown to the submitter')
    .option('--at <version>', 'decide only if the job still has this version', readWhole)
    .action(async (ids: string[], { output, reason, at }: OutputOptions & { reason: string; at?: number }) => {
      const jobs = await runForEach(cli, ids, async (jobId) => {
        const input = { jobId, reason, expectedVersion: at ?? (await readJobVersion(cli, jobId)) }
        return (await mutate(cli, RejectJobDocument, input)).job
      })
      await printJobs(cli, jobs, output)
    })
}
