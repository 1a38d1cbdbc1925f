import type { Command } from 'commander'
import { ProcessQueueDocument } from '../../client/generated/graphql.ts'
import { type Cli, expectSuccess } from '../cli.ts'
import { addOutputOption, type OutputOptions, printObject } from '../output.ts'
import { sheet } from '../render.ts'

export function registerProcessCommand(program: Command, cli: Cli): void {
  addOutputOption(program.command('process'), ['considered', 'started', 'preempted'])
    .description('run a scheduling pass in every pool now')
    .option('--pool <name>', 'only this pool')
    .action(async ({ output, pool }: OutputOptions & { pool?: string }) => {
      const { processQueue } = await cli.connection().request(ProcessQueueDocument, { input: { pool } })
      const { considered, started, preempted } = expectSuccess(processQueue, 'ProcessQueueSuccess')
      const done = { considered, started, preempted }
      const entries = Object.entries(done).map(([name, count]) => [name, String(count)] as const)
      await printObject(cli, done, output, () => sheet(cli.terminal, entries))
    })
}
