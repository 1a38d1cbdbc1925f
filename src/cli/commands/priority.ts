import type { Command } from 'commander'
import {
  type ChangedJobFragment,
  ChangedJobFragmentDoc,
  SetJobPrioritiesDocument,
} from '../../client/generated/graphql.ts'
import type { Cli } from '../frame/cli.ts'
import { usageError } from '../frame/exit.ts'
import { readWhole } from '../reading/numbers.ts'
import { actOnChosen, addSelectionFlags } from '../reading/selection.ts'
import { addOutputOption, createRowPrinter, isTable, type OutputOptions } from '../showing/output.ts'
import { changedJobColumns } from '../showing/render.ts'

const print = createRowPrinter<ChangedJobFragment & { priority: number | null }>([
  ...changedJobColumns,
  { title: 'PRIORITY', cell: ({ priority }) => (priority === null ? '-' : String(priority)) },
])

export function registerPriorityCommand(program: Command, cli: Cli): void {
  const command = addOutputOption(
    program.command('priority').argument('[words...]', 'jobs, then a priority from 0 to 50'),
    [ChangedJobFragmentDoc, 'priority'],
  )
    .usage('[options] [job...] <priority>')
    .description('set the priority of waiting jobs; higher starts first')
    .option('--clear', "return to the priority of the submitter's level")
  addSelectionFlags(command).action(async (words: string[], { clear, output }: OutputOptions & { clear?: true }) => {
    const ids = clear ? words : words.slice(0, -1)
    const priority = clear ? null : readPriority(words.at(-1))
    const chosen = await actOnChosen(cli, command, ids, {
      verb: 'change',
      past: 'changed',
      success: 'SetJobPrioritySuccess',
      request: async (selection) => {
        const input = { selection, priority }
        // Retries are safe, because setting the same priority twice changes nothing.
        return (await cli.connection().request(SetJobPrioritiesDocument, { input }, { attempts: 4 })).setJobPriorities
      },
    })
    const jobs = chosen.done.map(({ job }) => job)
    if (chosen.isMatching && isTable(output)) await cli.terminal.write(chosen.summary)
    else await print(cli, jobs, output)
  })
}

function readPriority(word: string | undefined): number {
  if (word === undefined || !/^\d+$/.test(word))
    throw usageError('pass either a priority or --clear', 'for example "berth priority JOB 40"')
  return readWhole(word)
}
