import type { Command } from 'commander'
import {
  type ApprovalRowFragment,
  ApprovalsDocument,
  ApproveJobDocument,
  JobDocument,
} from '../../client/generated/graphql.ts'
import { type Cli, type OutputOptions, printJobs, rowPrinter, successOf, withOutput } from '../cli.ts'
import { forEachGiven } from '../each.ts'
import { exitCodes, Stop } from '../exit.ts'
import { readWhole } from '../numbers.ts'
import { everyNode } from '../pages.ts'
import { timeText } from '../render.ts'

export function addApprove(program: Command, cli: Cli): void {
  withOutput(program.command('approve').argument('[job...]'))
    .description('approve jobs; without a job, list the pending approval requests')
    .option('--comment <text>', 'comment on the decision')
    .option('--at <version>', 'only if the job still has this version', readWhole)
    .action(async (ids: string[], { output, comment, at }: OutputOptions & { comment?: string; at?: number }) => {
      if (ids.length === 0) return listPending(cli, output)
      const jobs = await forEachGiven(cli, ids, async (jobId) => {
        const expectedVersion = at ?? (await versionOf(cli, jobId))
        const input = { jobId, expectedVersion, ...(comment === undefined ? {} : { comment }) }
        const { approveJob } = await cli.connection().request(ApproveJobDocument, { input })
        return successOf(approveJob, 'ApproveJobSuccess').job
      })
      await printJobs(cli, jobs, output)
    })
}

/** The present version: a caller who decides by id has just looked at the job. */
export async function versionOf(cli: Cli, id: string): Promise<number> {
  const { job } = await cli.connection().request(JobDocument, { id })
  if (!job) throw new Stop(exitCodes.notFound, `There is no job ${id}`, 'see "berth approve"')
  return job.version
}

const print = rowPrinter<ApprovalRowFragment>([
  { title: 'JOB', cell: ({ job }) => job.id },
  { title: 'NAME', cell: ({ job }) => job.name ?? '-' },
  { title: 'USER', cell: ({ requestedBy }) => requestedBy.name },
  { title: 'NEEDS', cell: ({ requiredLevel }) => requiredLevel },
  { title: 'UNTIL', cell: ({ expiresAt }) => timeText(expiresAt) ?? '-' },
  { title: 'VERSION', cell: ({ job }) => String(job.version) },
  { title: 'WHY', cell: ({ reason }) => reason },
])

async function listPending(cli: Cli, output: OutputOptions['output']): Promise<void> {
  const pending = await everyNode(async (page) => (await cli.connection().request(ApprovalsDocument, page)).approvals)
  await print(cli, pending, output)
}
