import type { Command } from 'commander'
import type { Cli } from '../frame/cli.ts'
import { usageError } from '../frame/exit.ts'
import { logOut } from '../login/log-out.ts'
import { findContext } from '../login/server-choice.ts'

export function registerLogoutCommand(program: Command, cli: Cli): void {
  program
    .command('logout')
    .summary('log out of a context')
    .description(
      'forget the log-in of a context, and revoke it at the OpenID provider; an API token stays valid elsewhere',
    )
    .action(async ({ context }: { context?: string }) => {
      const name = context ?? findContext(cli.contexts, cli.env)
      if (name === null) throw usageError('a current context is missing', '"berth context ls" lists the contexts')
      const { token, url } = cli.contexts.read(name)
      await logOut(cli, name)
      cli.terminal.say(token === null ? `Context ${name} had no log-in.` : `Logged out of ${url} (context ${name}).`)
      if (cli.env['BERTH_TOKEN']) cli.terminal.say('BERTH_TOKEN is still set.')
    })
}
