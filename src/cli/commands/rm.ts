import type { Command } from 'commander'
import { DeleteJobDocument } from '../../client/generated/graphql.ts'
import { addOutputOption, type Cli, expectSuccess, type OutputOptions } from '../cli.ts'
import { runForEach } from '../each.ts'
import { seeJobs } from '../exit.ts'
import { structured } from '../render.ts'

export function registerRmCommand(program: Command, cli: Cli): void {
  addOutputOption(program.command('rm').argument('<job...>'))
    .description('delete final jobs with their logs')
    .action(async (ids: string[], { output }: OutputOptions) => {
      const deleted = await runForEach(cli, ids, async (jobId) => {
        const { deleteJob } = await cli.connection().request(DeleteJobDocument, { input: { jobId } })
        return expectSuccess(deleteJob, 'DeleteJobSuccess', seeJobs).deletedId
      })
      await cli.terminal.write(
        output === 'table' ? deleted.map((id) => `${id}\n`).join('') : structured(deleted, output),
      )
    })
}
