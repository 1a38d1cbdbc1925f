import type { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { runServer } from '../server.ts'

export function addServe(program: Command, cli: Cli): void {
  program
    .command('serve')
    .description('run a server in the foreground, configured by a file and BERTH_… variables')
    .option('--config <file>', 'the configuration file')
    .option('--single-user', 'give up all users and tokens first: from now on there is one user, who need not log in')
    .action(({ config, singleUser }: { config?: string; singleUser?: true }) =>
      runServer(cli, [...(config === undefined ? [] : ['--config', config]), ...(singleUser ? ['--single-user'] : [])]),
    )
}
