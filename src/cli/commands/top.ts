import type { Command } from 'commander'
import { QueueStatusDocument } from '../../client/generated/graphql.ts'
import type { Cli } from '../cli.ts'
import { asked, type QueueOptions, shown, withQueue } from './queue.ts'

/** Moves the cursor to the top left and clears the screen. */
const clearScreen = '\u001B[H\u001B[J'

export function addTop(program: Command, cli: Cli): void {
  withQueue(program.command('top'), 20)
    .description('watch the queue live until Ctrl-C; in a pipe, print one snapshot after another')
    .action(async (options: QueueOptions) => {
      cli.leaveOnInterrupt('detached; all jobs continue')
      for await (const { queueStatus } of cli.connection().subscribe(QueueStatusDocument, asked(options))) {
        const view = shown(cli, queueStatus, options.output)
        const separator = options.output === 'yaml' ? '---\n' : options.output === 'table' ? '\n' : ''
        await cli.terminal.write(cli.terminal.live ? `${clearScreen}${view}` : `${view}${separator}`)
      }
    })
}
