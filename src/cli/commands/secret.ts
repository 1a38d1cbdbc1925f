import type { Command } from 'commander'
import {
  DeleteSecretDocument,
  type SecretRowFragment,
  SecretRowFragmentDoc,
  SecretsDocument,
  SetSecretDocument,
} from '../../client/generated/graphql.ts'
import { type Cli, mutate } from '../frame/cli.ts'
import { runForEach } from '../frame/each.ts'
import { exitCodes, Stop, usageError } from '../frame/exit.ts'
import { readEveryNode } from '../reading/pages.ts'
import { findTeamId } from '../reading/people.ts'
import { addOutputOption, createRowPrinter, type OutputOptions } from '../showing/output.ts'
import { formatTime } from '../showing/render.ts'

interface TeamOption {
  team?: string
}

export function registerSecretCommand(program: Command, cli: Cli): void {
  const secret = program.command('secret').description('manage secrets, which jobs get as environment variables')
  addOutputOption(secret.command('ls'))
    .description('list your secrets and those of your teams, without their values')
    .option('--team <name>', 'secrets of this team')
    .action(async ({ output, team }: OutputOptions & TeamOption) => {
      const teamId = await readTeamId(cli, team)
      const rows = await readEveryNode(
        async (page) => (await cli.connection().request(SecretsDocument, { ...page, teamId })).secrets,
      )
      await print(cli, rows, output)
    })
  addOutputOption(secret.command('set').argument('<name>'), [SecretRowFragmentDoc])
    .summary('set a secret; its value is typed in or read from stdin')
    .description(
      'set a secret. Its value is typed in without being shown, or read from stdin without its last line ending; arguments would be visible to other accounts',
    )
    .option('--team <name>', 'secret of this team, for its members')
    .action(async (name: string, { output, team }: OutputOptions & TeamOption) => {
      const input = { name, value: await readValue(cli, name), teamId: await readTeamId(cli, team) }
      await print(cli, [(await mutate(cli, SetSecretDocument, input)).secret], output)
    })
  secret
    .command('rm')
    .argument('<name...>')
    .description('delete secrets; waiting jobs that name them fail at their start')
    .option('--team <name>', 'secrets of this team')
    .action(async (names: string[], { team }: TeamOption) => {
      const teamId = await readTeamId(cli, team)
      await runForEach(cli, names, async (name) => {
        const { deletedId } = await mutate(cli, DeleteSecretDocument, { name, teamId })
        if (deletedId === null)
          throw new Stop(exitCodes.notFound, `Secret ${name} not found`, '"berth secret ls" lists the secrets')
        await cli.terminal.write(`${deletedId}\n`)
      })
    })
}

const readTeamId = (cli: Cli, team: string | undefined) => (team === undefined ? null : findTeamId(cli, team))

async function readValue(cli: Cli, name: string): Promise<string> {
  const value = cli.askSecret
    ? await cli.askSecret(`Value of ${name}: `)
    : (await cli.readStdin()).replace(/\r?\n$/, '')
  if (value === '') throw usageError('the value is empty', `pass it with "berth secret set ${name} < file"`)
  return value
}

const print = createRowPrinter<SecretRowFragment>([
  { title: 'NAME', cell: ({ name }) => name },
  { title: 'OWNER', cell: ({ team, ownedBy }) => (team ? `team ${team.name}` : (ownedBy?.name ?? '-')) },
  { title: 'SET', cell: ({ updatedAt }) => formatTime(updatedAt) ?? '-' },
  { title: 'BY', cell: ({ setBy }) => setBy?.name ?? '-' },
  { title: 'USED', cell: ({ lastUsedAt }) => formatTime(lastUsedAt) ?? 'never' },
])
