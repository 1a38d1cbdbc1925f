import type { Command } from 'commander'
import { ProcessQueueDocument } from '../../client/generated/graphql.ts'
import { addOutputOption, type Cli, type OutputOptions } from '../cli.ts'
import { sheet, structured } from '../render.ts'

export function registerProcessCommand(program: Command, cli: Cli): void {
  addOutputOption(program.command('process'))
    .description('run a scheduling pass in every pool now')
    .action(async ({ output }: OutputOptions) => {
      const { processQueue: done } = await cli.connection().request(ProcessQueueDocument, {})
      const entries = Object.entries(done).map(([name, count]) => [name, String(count)] as const)
      await cli.terminal.write(output === 'table' ? sheet(cli.terminal, entries) : structured(done, output))
    })
}
