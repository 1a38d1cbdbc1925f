import type { Command } from 'commander'
import { WhoAmIDocument } from '../../client/generated/graphql.ts'
import type { Cli } from '../frame/cli.ts'
import { addOutputOption, type OutputOptions, printObject } from '../showing/output.ts'
import { formatSheet, formatTime } from '../showing/render.ts'

export function registerWhoamiCommand(program: Command, cli: Cli): void {
  addOutputOption(program.command('whoami'))
    .summary('show who you are, and on which server')
    .description('show your user, level and scopes, the server, the context, and until when the log-in is valid')
    .action(async ({ output }: OutputOptions) => {
      const { viewer } = await cli.connection().request(WhoAmIDocument, {})
      const { context, variable } = cli.server()
      const openId = context === null || variable === 'BERTH_TOKEN' ? null : cli.contexts.read(context).openId
      const facts = {
        id: viewer.user.id,
        user: viewer.user.name,
        level: viewer.user.level,
        scopes: viewer.scopes,
        server: cli.connection().url,
        context,
        validUntil: viewer.expiresAt,
        isRenewed: Boolean(openId?.refreshToken),
      }
      await printObject(cli, facts, output, () =>
        formatSheet(cli.terminal, [
          ['user', facts.user],
          ['level', facts.level],
          ['scopes', facts.scopes.join(', ')],
          ['server', facts.server],
          ['context', context ?? `none (${variable ?? 'default server'})`],
          ['valid until', validityText(facts)],
        ]),
      )
    })
}

function validityText({ validUntil, isRenewed }: { validUntil: string | null; isRenewed: boolean }): string {
  if (isRenewed)
    return `renewed by the OpenID provider as long as it allows; this token until ${formatTime(validUntil)}`
  return formatTime(validUntil) ?? 'no end'
}
