import type { Command } from 'commander'
import {
  type ApprovalRowFragment,
  ApprovalsDocument,
  ApproveJobDocument,
  JobDocument,
  JobRowFragmentDoc,
} from '../../client/generated/graphql.ts'
import { type Cli, mutate } from '../frame/cli.ts'
import { runForEach } from '../frame/each.ts'
import { exitCodes, Stop } from '../frame/exit.ts'
import { readWhole } from '../reading/numbers.ts'
import { readEveryNode } from '../reading/pages.ts'
import { addOutputOption, createRowPrinter, type OutputOptions, printJobs } from '../showing/output.ts'
import { formatTime } from '../showing/render.ts'

export function registerApproveCommand(program: Command, cli: Cli): void {
  addOutputOption(program.command('approve').argument('[job...]'), ({ args }) =>
    args.length > 0 ? [JobRowFragmentDoc] : undefined,
  )
    .summary('approve jobs, or list pending requests')
    .description('approve jobs; without a job, list the pending approval requests')
    .option('--comment <text>', 'comment on the decision')
    .option('--at <version>', 'decide only if the job still has this version', readWhole)
    .action(async (ids: string[], { output, comment, at }: OutputOptions & { comment?: string; at?: number }) => {
      if (ids.length === 0) return listPending(cli, output)
      const jobs = await runForEach(cli, ids, async (jobId) => {
        const expectedVersion = at ?? (await readJobVersion(cli, jobId))
        return (await mutate(cli, ApproveJobDocument, { jobId, expectedVersion, comment })).job
      })
      await printJobs(cli, jobs, output)
    })
}

export async function readJobVersion(cli: Cli, id: string): Promise<number> {
  const { job } = await cli.connection().request(JobDocument, { id })
  if (!job)
    throw new Stop(exitCodes.notFound, `Job ${id} not found`, '"berth approve" lists the jobs that wait for approval')
  return job.version
}

const print = createRowPrinter<ApprovalRowFragment>([
  { title: 'JOB', cell: ({ job }) => job.id },
  { title: 'NAME', cell: ({ job }) => job.name ?? '-' },
  { title: 'USER', cell: ({ requestedBy }) => requestedBy.name },
  { title: 'NEEDS', cell: ({ requiredLevel }) => requiredLevel },
  { title: 'UNTIL', cell: ({ expiresAt }) => formatTime(expiresAt) ?? '-' },
  { title: 'VERSION', cell: ({ job }) => String(job.version) },
  { title: 'WHY', cell: ({ reason }) => reason },
])

async function listPending(cli: Cli, output: OutputOptions['output']): Promise<void> {
  const pending = await readEveryNode(
    async (page) => (await cli.connection().request(ApprovalsDocument, page)).approvals,
  )
  await print(cli, pending, output)
}
