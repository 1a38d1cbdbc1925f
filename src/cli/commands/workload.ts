import { type Command, Option } from 'commander'
import { type JobState, WorkloadDocument, type WorkloadRowFragment } from '../../client/generated/graphql.ts'
import type { Cli } from '../frame/cli.ts'
import { poolNotFound } from '../reading/nodes.ts'
import { readUpTo } from '../reading/numbers.ts'
import { addOutputOption, type OutputOptions, printObject } from '../showing/output.ts'
import { formatWorkload } from '../showing/workload-view.ts'

export interface WorkloadOptions extends OutputOptions {
  pool?: string
  state?: JobState[]
  limit: number
}

const states = ['BLOCKED', 'QUEUED', 'STARTING', 'RUNNING', 'CANCELLING'] as const satisfies readonly JobState[]
const entriesMax = 100

export const addWorkloadOptions = (command: Command, usual: number) =>
  addOutputOption(command)
    .option('--pool <name>', 'pool (default: pool of the default queue)')
    .addOption(
      new Option('-s, --state <state...>', 'only jobs in these states').choices(states.map((s) => s.toLowerCase())),
    )
    .option('-n, --limit <count>', `maximum number of jobs, up to ${entriesMax}`, readUpTo(entriesMax), usual)

export const toWorkloadVariables = ({ pool, state, limit }: WorkloadOptions) => ({
  pool,
  states: state?.map((each) => each.toUpperCase() as JobState),
  first: limit,
})

export function registerWorkloadCommand(program: Command, cli: Cli): void {
  addWorkloadOptions(program.command('workload'), 50)
    .description('list the running and waiting jobs of a pool in order, with the reason why each waits')
    .action(async (options: WorkloadOptions) => {
      const { pool } = await cli.connection().request(WorkloadDocument, toWorkloadVariables(options))
      if (!pool) throw poolNotFound(options.pool)
      await printWorkload(cli, pool.workload, options.output)
    })
}

export const printWorkload = (
  cli: Cli,
  workload: WorkloadRowFragment,
  output: OutputOptions['output'],
): Promise<void> => printObject(cli, workload, output, () => formatWorkload(cli.terminal, workload))
