import type { Command } from 'commander'
import { ProcessQueueDocument } from '../../client/generated/graphql.ts'
import { addOutputOption, type Cli, expectSuccess, type OutputOptions } from '../cli.ts'
import { sheet, structured } from '../render.ts'

export function registerProcessCommand(program: Command, cli: Cli): void {
  addOutputOption(program.command('process'))
    .description('run a scheduling pass in every pool now')
    .action(async ({ output }: OutputOptions) => {
      const { processQueue } = await cli.connection().request(ProcessQueueDocument, { input: {} })
      const { considered, started, preempted } = expectSuccess(processQueue, 'ProcessQueueSuccess')
      const done = { considered, started, preempted }
      const entries = Object.entries(done).map(([name, count]) => [name, String(count)] as const)
      await cli.terminal.write(output === 'table' ? sheet(cli.terminal, entries) : structured(done, output))
    })
}
