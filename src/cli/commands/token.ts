import type { Command } from 'commander'
import {
  CreateTokenDocument,
  RevokeTokenDocument,
  type TokenRowFragment,
  TokenRowFragmentDoc,
  type TokenScope,
} from '../../client/generated/graphql.ts'
import { type Cli, mutate } from '../frame/cli.ts'
import { readChoices } from '../reading/choices.ts'
import { findTokenId, findUserId, readTokens } from '../reading/people.ts'
import { readFutureTime } from '../reading/times.ts'
import { addOutputOption, createRowPrinter, type OutputOptions, printObject } from '../showing/output.ts'
import { formatTime } from '../showing/render.ts'

const print = createRowPrinter<TokenRowFragment>([
  { title: 'PREFIX', cell: ({ prefix }) => prefix },
  { title: 'NAME', cell: ({ name }) => name },
  { title: 'USER', cell: ({ user }) => user.name },
  { title: 'SCOPES', cell: ({ scopes }) => scopes.join(',') },
  { title: 'USED', cell: ({ lastUsedAt }) => formatTime(lastUsedAt) ?? '-' },
  { title: 'EXPIRES', cell: ({ expiresAt }) => formatTime(expiresAt) ?? 'never' },
  { title: 'REVOKED', cell: ({ revokedAt }) => formatTime(revokedAt) ?? '-' },
])

interface Creation {
  user?: string
  scopes?: TokenScope[]
  expires?: string
}

export function registerTokenCommand(program: Command, cli: Cli): void {
  const token = program.command('token').description('manage API tokens')
  addOutputOption(token.command('ls'))
    .description('list tokens, newest first')
    .option('--user <name>', 'tokens of this user')
    .action(async ({ output, user }: OutputOptions & { user?: string }) => {
      const userId = user === undefined ? null : await findUserId(cli, user)
      await print(cli, await readTokens(cli, userId), output)
    })
  addOutputOption(token.command('create').argument('<name>'), [TokenRowFragmentDoc, 'secret'])
    .description('create a token and print its secret, which cannot be shown again')
    .option('--user <name>', 'user of the token (default: you)')
    .option('--scopes <scope...>', 'READ, SUBMIT, OPERATE, ADMIN, EXEC (default: all your scopes)', readScope)
    .option(
      '--expires <time>',
      'expiry: 30d, 12h, or 2030-01-31T12:00:00Z (default: the expiry of your own credentials)',
      readFutureTime,
    )
    .action(async (name: string, { output, user, scopes, expires }: OutputOptions & Creation) => {
      const userId = user === undefined ? null : await findUserId(cli, user)
      const input = { name, userId, scopes: scopes ?? null, expiresAt: expires ?? null }
      const { token: made, secret } = await mutate(cli, CreateTokenDocument, input)
      if (made.expiresAt && !expires)
        cli.terminal.say(`The token expires ${formatTime(made.expiresAt)}, with the credentials that created it.`)
      await printObject(cli, { ...made, secret }, output, () => `${secret}\n`)
    })
  addOutputOption(token.command('revoke').argument('<prefix>'), [TokenRowFragmentDoc])
    .description('revoke a token; its open streams end within seconds')
    .action(async (called: string, { output }: OutputOptions) => {
      const tokenId = await findTokenId(cli, called)
      await print(cli, [(await mutate(cli, RevokeTokenDocument, { tokenId })).token], output)
    })
}

const readScope = readChoices<TokenScope>(['READ', 'SUBMIT', 'OPERATE', 'ADMIN', 'EXEC'])
