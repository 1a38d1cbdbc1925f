import type { Command } from 'commander'
import {
  CreateUserDocument,
  DisableUserDocument,
  type Permission,
  ServerInfoDocument,
  UpdateUserDocument,
  type UserIdentityInput,
  type UserLevel,
  type UserRightsFragment,
  type UserRowFragment,
  UserRowFragmentDoc,
  WhoAmIDocument,
} from '../../client/generated/graphql.ts'
import { type Cli, mutate } from '../frame/cli.ts'
import { exitCodes, Stop, usageError } from '../frame/exit.ts'
import { formatPermission, levels, readChoice, readPermissions } from '../reading/choices.ts'
import { findUserId, readUsersWithRights } from '../reading/people.ts'
import { addOutputOption, createRowPrinter, type OutputOptions, printObject } from '../showing/output.ts'
import { type Column, formatSheet, formatTime } from '../showing/render.ts'

type User = UserRowFragment & Partial<UserRightsFragment>

const rights: readonly Column<User>[] = [
  { title: 'DEFAULT', cell: ({ defaultTeam }) => defaultTeam?.name ?? '-', drop: 1 },
  { title: 'ALLOW', cell: ({ allow }) => allow?.map(formatPermission).join(',') || '-', shrinks: true, drop: 3 },
  { title: 'DENY', cell: ({ deny }) => deny?.map(formatPermission).join(',') || '-', shrinks: true, drop: 3 },
  { title: 'UNIX USER', cell: ({ unixUser }) => unixUser ?? '-', drop: 2 },
]

const columnsWith = (more: readonly Column<User>[]): readonly Column<User>[] => [
  { title: 'NAME', cell: ({ name }) => name },
  { title: 'LEVEL', cell: ({ level }) => level },
  { title: 'TEAMS', cell: (user) => user.teams.map(({ name }) => name).join(',') || '-', shrinks: true },
  ...more,
  { title: 'STATE', cell: ({ disabled }) => (disabled ? 'disabled' : 'active') },
  { title: 'SINCE', cell: ({ createdAt }) => formatTime(createdAt) ?? '-' },
]

const print = createRowPrinter<User>(columnsWith([]))
const printWithRights = createRowPrinter<User>(columnsWith(rights))

interface Fields {
  level?: UserLevel
  displayName?: string
  email?: string
  teams?: string[]
  defaultTeam?: string
  allow?: Permission[]
  deny?: Permission[]
  unixUser?: string
}

interface Change {
  enable?: true
  oidcSubject?: string
}

export function registerUserCommand(program: Command, cli: Cli): void {
  const user = program.command('user').description('manage users')
  addOutputOption(user.command('ls'))
    .description('list users')
    .action(async ({ output }: OutputOptions) => printWithRights(cli, await readUsersWithRights(cli), output))
  addOutputOption(user.command('info').argument('[name]'))
    .description('show a user, by default yourself, with the effective permissions')
    .action((name: string | undefined, { output }: OutputOptions) => showUser(cli, name, output))
  withFields(addOutputOption(user.command('create').argument('<name>'), [UserRowFragmentDoc]))
    .description('create a user')
    .action(async (name: string, { output, level = 'RESEARCHER', ...fields }: OutputOptions & Fields) => {
      const input = { name, level, ...toInput(fields) }
      await print(cli, [(await mutate(cli, CreateUserDocument, input)).user], output)
    })
  withFields(addOutputOption(user.command('set').argument('<name>'), [UserRowFragmentDoc]))
    .description('change a user; omitted fields stay')
    .option('--enable', 'enable the user again')
    .option('--oidc-subject <sub>', 'identity of the user: `sub` in the tokens of the OpenID provider of the server')
    .action(async (name: string, options: OutputOptions & Fields & Change) => {
      const { output, enable, oidcSubject, ...fields } = options
      const identity = oidcSubject === undefined ? undefined : await readIdentity(cli, oidcSubject)
      const input = {
        userId: await findUserId(cli, name),
        ...toInput(fields),
        ...(enable && { disabled: false }),
        identity,
      }
      await print(cli, [(await mutate(cli, UpdateUserDocument, input)).user], output)
    })
  user
    .command('disable')
    .argument('<name>')
    .description('disable a user and revoke the tokens of the user; running jobs continue, waiting jobs are held')
    .action(async (name: string) => {
      const disabled = await mutate(cli, DisableUserDocument, { userId: await findUserId(cli, name) })
      await cli.terminal.write(`${disabled.user.id}\n`)
    })
}

async function showUser(cli: Cli, name: string | undefined, output: OutputOptions['output']): Promise<void> {
  const found = await readUserWithRights(cli, name)
  const entries: [string, string | null | undefined][] = [
    ['name', found.name],
    ['display name', found.displayName],
    ['email', found.email],
    ['level', found.level],
    ['teams', found.teams.map((team) => team.name).join(', ')],
    ['default team', found.defaultTeam?.name],
    ['unix user', found.unixUser],
    ['allow', found.allow?.map(formatPermission).join(', ')],
    ['deny', found.deny?.map(formatPermission).join(', ')],
    ['permissions', found.permissions?.map(formatPermission).join(', ')],
    ['state', found.disabled ? 'disabled' : 'active'],
    ['since', formatTime(found.createdAt)],
  ]
  await printObject(cli, found, output, () => formatSheet(cli.terminal, entries))
}

async function readUserWithRights(cli: Cli, called: string | undefined): Promise<User> {
  if (called === undefined) return (await cli.connection().request(WhoAmIDocument, {})).viewer.user
  const found = (await readUsersWithRights(cli)).find(({ id, name }) => called === id || called === name)
  if (!found) throw new Stop(exitCodes.notFound, `User ${called} not found`, '"berth user ls" lists the users')
  return found
}

function withFields(command: Command): Command {
  return command
    .option('--level <level>', 'VIEWER, RESEARCHER, LEAD or ADMIN (new users: RESEARCHER)', readChoice(levels))
    .option('--display-name <name>', 'display name')
    .option('--email <address>', 'mail address')
    .option('--teams <team...>', 'names of all teams of the user')
    .option('--default-team <team>', 'team for submissions that name no team')
    .option('--allow <permission...>', 'permissions in addition to those of the level', readPermissions)
    .option('--deny <permission...>', 'permissions to deny', readPermissions)
    .option('--unix-user <account>', 'Unix account that the jobs of the user run as')
}

const toInput = ({ teams, defaultTeam, ...fields }: Fields) => ({
  ...fields,
  ...(teams && { teams: teams.map((name) => ({ name })) }),
  ...(defaultTeam !== undefined && { defaultTeam: { name: defaultTeam } }),
})

async function readIdentity(cli: Cli, subject: string): Promise<UserIdentityInput> {
  const { serverInfo } = await cli.connection().request(ServerInfoDocument, {})
  if (serverInfo.oidcIssuer) return { issuer: serverInfo.oidcIssuer, subject }
  throw usageError('--oidc-subject: the server has no OpenID provider', 'set auth.oidc in its configuration')
}
