import type { Command } from 'commander'
import { SetJobPriorityDocument, type SetJobPriorityMutation } from '../../client/generated/graphql.ts'
import { type Cli, expectSuccess } from '../cli.ts'
import { seeJobs, usageError } from '../exit.ts'
import { readWhole } from '../numbers.ts'
import { addOutputOption, type OutputOptions, rowPrinter } from '../output.ts'
import { stateText } from '../render.ts'

type Prioritised = Extract<SetJobPriorityMutation['setJobPriority'], { __typename: 'SetJobPrioritySuccess' }>['job']

const print = rowPrinter<Prioritised>([
  { title: 'ID', cell: ({ id }) => id },
  { title: 'NAME', cell: ({ name }) => name ?? '-' },
  { title: 'STATE', cell: stateText },
  { title: 'PRIORITY', cell: ({ priority }) => (priority === null ? '-' : String(priority)) },
])

export function registerPriorityCommand(program: Command, cli: Cli): void {
  addOutputOption(program.command('priority').argument('<job>').argument('[priority]', 'from 0 to 50', readWhole))
    .description('set the priority of a waiting job; higher starts first')
    .option('--clear', "return to the priority of the submitter's level")
    .action(async (jobId: string, given: number | undefined, options: OutputOptions & { clear?: true }) => {
      const { clear, output } = options
      if ((given === undefined) !== (clear === true))
        throw usageError('pass either a priority or --clear', 'for example "berth priority JOB 40"')
      const input = { jobId, priority: given ?? null }
      // Safe to retry: setting the same priority twice changes nothing.
      const { setJobPriority } = await cli.connection().request(SetJobPriorityDocument, { input }, { attempts: 4 })
      await print(cli, [expectSuccess(setJobPriority, 'SetJobPrioritySuccess', seeJobs).job], output)
    })
}
