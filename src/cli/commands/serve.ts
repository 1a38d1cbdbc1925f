import type { Command } from 'commander'
import type { Cli } from '../frame/cli.ts'
import { runServer } from '../frame/server.ts'

export function registerServeCommand(program: Command, cli: Cli): void {
  program
    .command('serve')
    .description('run a server with a configuration file and BERTH_… variables')
    .option('--config <file>', 'the configuration file')
    .option('--single-user', 'remove all users and tokens first; the only user then needs no login')
    .action(({ config, singleUser }: { config?: string; singleUser?: true }) =>
      runServer(cli, [...(config === undefined ? [] : ['--config', config]), ...(singleUser ? ['--single-user'] : [])]),
    )
}
