import type { Command } from 'commander'
import { QueueDocument, QueueStatusDocument } from '../../client/generated/graphql.ts'
import type { Cli } from '../cli.ts'
import type { Format } from '../render.ts'
import { addQueueOptions, type QueueOptions, queueVariables, renderQueue } from './queue.ts'

export function registerTopCommand(program: Command, cli: Cli): void {
  addQueueOptions(program.command('top'), 20)
    .summary('watch the queue live')
    .description('watch the queue live until Ctrl-C; in a pipe, print one snapshot after another')
    .action(async (options: QueueOptions) => {
      const { write, replaceScreen } = cli.terminal
      cli.leaveOnInterrupt('detached; all jobs continue')
      // The live view retries forever, so check first that a server is reachable.
      const variables = queueVariables(options)
      const { queue } = await cli.connection().request(QueueDocument, variables, { attempts: 2 })
      const pool = queue?.pool.name ?? variables.pool
      for await (const { queueStatus } of cli.connection().subscribe(QueueStatusDocument, { ...variables, pool })) {
        const view = renderQueue(cli, queueStatus, options.output)
        if (options.output === 'table' && replaceScreen) await replaceScreen(view)
        else await write(`${view}${separators[options.output]}`)
      }
    })
}

const separators = { table: '\n', json: '', yaml: '---\n' } as const satisfies Record<Format, string>
