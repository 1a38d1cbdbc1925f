import type { Command } from 'commander'
import { DeleteJobDocument } from '../../client/generated/graphql.ts'
import { type Cli, type OutputOptions, successOf, withOutput } from '../cli.ts'
import { forEachGiven } from '../each.ts'
import { seeJobs } from '../exit.ts'
import { structured } from '../render.ts'

export function addRm(program: Command, cli: Cli): void {
  withOutput(program.command('rm').argument('<job...>'))
    .description('delete final jobs with their logs')
    .action(async (ids: string[], { output }: OutputOptions) => {
      const deleted = await forEachGiven(cli, ids, async (jobId) => {
        const { deleteJob } = await cli.connection().request(DeleteJobDocument, { input: { jobId } })
        return successOf(deleteJob, 'DeleteJobSuccess', seeJobs).id
      })
      await cli.terminal.write(
        output === 'table' ? deleted.map((id) => `${id}\n`).join('') : structured(deleted, output),
      )
    })
}
