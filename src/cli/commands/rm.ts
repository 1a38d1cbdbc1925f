import type { Command } from 'commander'
import { DeleteJobsDocument } from '../../client/generated/graphql.ts'
import type { Cli } from '../frame/cli.ts'
import { actOnChosen, addSelectionFlags } from '../reading/selection.ts'
import { addOutputOption, isTable, type OutputOptions, printIds } from '../showing/output.ts'

export function registerRmCommand(program: Command, cli: Cli): void {
  const rm = addOutputOption(program.command('rm').argument('[job...]'), []).description(
    'delete final jobs with their logs: these, or all that match filters',
  )
  addSelectionFlags(rm).action(async (ids: string[], { output }: OutputOptions) => {
    const chosen = await actOnChosen(cli, rm, ids, {
      verb: 'delete',
      past: 'deleted',
      success: 'DeleteJobSuccess',
      request: async (selection) =>
        (await cli.connection().request(DeleteJobsDocument, { input: { selection } })).deleteJobs,
    })
    const deleted = chosen.done.map(({ deletedId }) => deletedId)
    if (chosen.isMatching && isTable(output)) await cli.terminal.write(chosen.summary)
    else await printIds(cli, deleted, output)
  })
}
