import type { Command } from 'commander'
import { CancelJobsDocument, ChangedJobFragmentDoc } from '../../client/generated/graphql.ts'
import type { Cli } from '../frame/cli.ts'
import { actOnChosen, addSelectionFlags } from '../reading/selection.ts'
import { addOutputOption, createRowPrinter, isTable, type OutputOptions } from '../showing/output.ts'
import { changedJobColumns } from '../showing/render.ts'

const print = createRowPrinter(changedJobColumns)

export function registerCancelCommand(program: Command, cli: Cli): void {
  const cancel = addOutputOption(program.command('cancel').argument('[job...]'), [ChangedJobFragmentDoc])
    .description('cancel the given jobs, or all jobs that match the filters')
    .option('--reason <text>', 'reason, recorded in the history of the job')
  addSelectionFlags(cancel).action(async (ids: string[], options: OutputOptions & { reason?: string }) => {
    const { output, reason } = options
    const chosen = await actOnChosen(cli, cancel, ids, {
      verb: 'cancel',
      past: 'cancelled',
      success: 'CancelJobSuccess',
      request: async (selection) => {
        const input = { selection, reason }
        // Retries are safe, because a second cancel changes nothing.
        return (await cli.connection().request(CancelJobsDocument, { input }, { attempts: 4 })).cancelJobs
      },
    })
    const jobs = chosen.done.map(({ job }) => job)
    if (chosen.isMatching && isTable(output)) await cli.terminal.write(chosen.summary)
    else await print(cli, jobs, output)
  })
}
