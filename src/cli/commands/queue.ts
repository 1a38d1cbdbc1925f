import { type Command, Option } from 'commander'
import { type JobState, QueueDocument, type QueueRowFragment } from '../../client/generated/graphql.ts'
import type { Cli } from '../cli.ts'
import { poolNotFound } from '../nodes.ts'
import { readUpTo } from '../numbers.ts'
import { addOutputOption, type OutputOptions, printObject } from '../output.ts'
import { queueView } from '../queue-view.ts'

export interface QueueOptions extends OutputOptions {
  pool?: string
  state?: JobState[]
  limit: number
}

const states = ['BLOCKED', 'QUEUED', 'STARTING', 'RUNNING', 'CANCELLING'] as const satisfies readonly JobState[]
const entriesMax = 100

export const addQueueOptions = (command: Command, usual: number) =>
  addOutputOption(command)
    .option('--pool <name>', 'pool (default: pool of the default queue)')
    .addOption(
      new Option('-s, --state <state...>', 'only jobs in these states').choices(states.map((s) => s.toLowerCase())),
    )
    .option('-n, --limit <count>', `maximum number of jobs, up to ${entriesMax}`, readUpTo(entriesMax), usual)

export const queueVariables = ({ pool, state, limit }: QueueOptions) => ({
  pool,
  states: state?.map((each) => each.toUpperCase() as JobState),
  first: limit,
})

export function registerQueueCommand(program: Command, cli: Cli): void {
  addQueueOptions(program.command('queue'), 50)
    .description('list running and waiting jobs in queue order, with the reason why each waits')
    .action(async (options: QueueOptions) => {
      const { queue } = await cli.connection().request(QueueDocument, queueVariables(options))
      if (!queue) throw poolNotFound(options.pool)
      await printQueue(cli, queue, options.output)
    })
}

export const printQueue = (cli: Cli, queue: QueueRowFragment, output: OutputOptions['output']): Promise<void> =>
  printObject(cli, queue, output, () => queueView(cli.terminal, queue))
