import type { Command } from 'commander'
import { RequestFailed } from '../../client/connection/failure.ts'
import { ServerInfoDocument } from '../../client/generated/graphql.ts'
import type { Cli } from '../cli.ts'
import { runServer } from '../server.ts'

export function registerUpCommand(program: Command, cli: Cli): void {
  program
    .command('up')
    .summary('start a server on this machine if none is running')
    .description('start a server on this machine if none is running; Ctrl-C stops it, and its jobs continue')
    .action(async () => {
      const { BERTH_LOG_LEVEL } = cli.env
      const running = await runningServer(cli)
      if (running) await cli.terminal.write(`Berth ${running.version} is already running at ${cli.connection().url}\n`)
      else await runServer(cli, [], { BERTH_LOG_LEVEL: BERTH_LOG_LEVEL || 'warn' })
    })
}

async function runningServer(cli: Cli) {
  try {
    const { serverInfo } = await cli.connection().request(ServerInfoDocument, {})
    return serverInfo
  } catch (error) {
    if (error instanceof RequestFailed && error.code === 'UNREACHABLE') return undefined
    throw error
  }
}
