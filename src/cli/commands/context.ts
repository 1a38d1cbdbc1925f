import type { Command } from 'commander'
import type { Cli } from '../frame/cli.ts'
import { runForEach } from '../frame/each.ts'
import type { Context } from '../login/context-files.ts'
import { logOut } from '../login/log-out.ts'
import { findContext } from '../login/server-choice.ts'
import { addOutputOption, createRowPrinter, type OutputOptions } from '../showing/output.ts'

interface ContextRow {
  id: string
  url: string
  user: string | null
  logIn: 'OpenID' | 'token' | null
  isCurrent: boolean
}

const print = createRowPrinter<ContextRow>([
  { title: 'CURRENT', cell: ({ isCurrent }) => (isCurrent ? '*' : '') },
  { title: 'NAME', cell: ({ id }) => id },
  { title: 'SERVER', cell: ({ url }) => url },
  { title: 'USER', cell: ({ user }) => user ?? '-' },
  { title: 'LOG-IN', cell: ({ logIn }) => logIn ?? '-' },
])

export function registerContextCommand(program: Command, cli: Cli): void {
  const context = program.command('context').description('list, choose and remove the servers that you logged in to')
  addOutputOption(context.command('ls', { isDefault: true }))
    .description('list contexts; "berth login URL" makes one')
    .action(async ({ output, context: flag }: OutputOptions & { context?: string }) => {
      const current = flag ?? findContext(cli.contexts, cli.env)
      const rows = await runForEach(cli, cli.contexts.list(), async (name) =>
        toRow(name, cli.contexts.read(name), current),
      )
      await print(cli, rows, output)
    })
  context
    .command('use')
    .argument('<context>')
    .description('make a context the current one')
    .action((name: string) => {
      cli.contexts.use(name)
      cli.terminal.say(`The current context is ${name}: ${cli.contexts.read(name).url}`)
    })
  context
    .command('rm')
    .argument('<context...>')
    .description('log out of contexts and remove them')
    .action(async (names: string[]) => {
      await runForEach(cli, names, async (name) => {
        await logOut(cli, name)
        cli.contexts.remove(name)
      })
    })
}

const toRow = (name: string, { url, user, token, openId }: Context, current: string | null): ContextRow => ({
  id: name,
  url,
  user,
  logIn: token === null ? null : openId ? 'OpenID' : 'token',
  isCurrent: name === current,
})
