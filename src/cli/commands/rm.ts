import type { Command } from 'commander'
import { DeleteJobDocument } from '../../client/generated/graphql.ts'
import { type Cli, expectSuccess } from '../cli.ts'
import { runForEach } from '../each.ts'
import { seeJobs } from '../exit.ts'
import { addOutputOption, type OutputOptions, printIds } from '../output.ts'

export function registerRmCommand(program: Command, cli: Cli): void {
  addOutputOption(program.command('rm').argument('<job...>'))
    .description('delete final jobs with their logs')
    .action(async (ids: string[], { output }: OutputOptions) => {
      const deleted = await runForEach(cli, ids, async (jobId) => {
        const { deleteJob } = await cli.connection().request(DeleteJobDocument, { input: { jobId } })
        return expectSuccess(deleteJob, 'DeleteJobSuccess', seeJobs).deletedId
      })
      await printIds(cli, deleted, output)
    })
}
