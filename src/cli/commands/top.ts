import type { Command } from 'commander'
import { QueueDocument, QueueStatusDocument } from '../../client/generated/graphql.ts'
import type { Cli } from '../cli.ts'
import { isTable } from '../output.ts'
import { queueView } from '../queue-view.ts'
import { addQueueOptions, printQueue, type QueueOptions, queueVariables } from './queue.ts'

export function registerTopCommand(program: Command, cli: Cli): void {
  addQueueOptions(program.command('top'), 20)
    .summary('watch the queue live')
    .description('watch the queue live until Ctrl-C; in a pipe, print one snapshot after another')
    .action(async (options: QueueOptions) => {
      const { write } = cli.terminal
      cli.leaveOnInterrupt('detached; all jobs continue')
      // The live view retries forever, so check first that a server is reachable.
      const variables = queueVariables(options)
      const { queue } = await cli.connection().request(QueueDocument, variables, { attempts: 2 })
      const pool = queue?.pool.name ?? variables.pool
      const screen = isTable(options.output) ? cli.terminal.openScreen() : null
      for await (const { queueStatus } of cli.connection().subscribe(QueueStatusDocument, { ...variables, pool })) {
        const { output } = options
        if (screen) {
          screen.draw(queueView(cli.terminal, queueStatus))
          continue
        }
        await printQueue(cli, queueStatus, output)
        if (output.format !== 'json' && output.format !== 'jsonl')
          await write(output.format === 'yaml' ? '---\n' : '\n')
      }
    })
}
