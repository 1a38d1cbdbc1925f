import type { Command } from 'commander'
import { RequestFailed } from '../../client/connection/failure.ts'
import { LogInFactsDocument } from '../../client/generated/graphql.ts'
import { type Client, createClient } from '../../client/jobs/client.ts'
import type { Cli } from '../frame/cli.ts'
import type { Env } from '../frame/env.ts'
import { runServer } from '../frame/server.ts'

export function registerUpCommand(program: Command, cli: Cli): void {
  program
    .command('up')
    .summary('start a server on this machine if none is running')
    .description('start a server on this machine if none is running; Ctrl-C stops it, and its jobs continue')
    .action(async () => {
      const { BERTH_LOG_LEVEL, BERTH_URL } = cli.env
      const server = BERTH_URL ? cli.connection() : openLocal(cli.env)
      const version = server && (await findVersion(server))
      if (version) await cli.terminal.write(`Berth ${version} is already running at ${server.url}\n`)
      else runServer(cli, [], { BERTH_LOG_LEVEL: BERTH_LOG_LEVEL || 'warn' })
    })
}

/** Connects to the server on this machine, whatever the current context is; null: BERTH_PORT is not valid. */
function openLocal({ BERTH_PORT }: Env): Client | null {
  const url = `http://127.0.0.1:${BERTH_PORT || 4000}`
  return URL.canParse(url) ? createClient({ url }) : null
}

async function findVersion(server: Client): Promise<string | null> {
  try {
    const { serverInfo } = await server.request(LogInFactsDocument, {})
    return serverInfo.release
  } catch (error) {
    if (error instanceof RequestFailed && error.code === 'UNREACHABLE') return null
    throw error
  }
}
