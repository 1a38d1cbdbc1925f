import type { Command } from 'commander'
import {
  CreateTeamDocument,
  DeleteTeamDocument,
  type TeamRowFragment,
  TeamRowFragmentDoc,
  UpdateTeamDocument,
} from '../../client/generated/graphql.ts'
import { type Cli, mutate } from '../frame/cli.ts'
import { findTeamId, findUserId, readTeams } from '../reading/people.ts'
import { addOutputOption, createRowPrinter, type OutputOptions } from '../showing/output.ts'
import { formatTime } from '../showing/render.ts'

const print = createRowPrinter<TeamRowFragment>([
  { title: 'NAME', cell: ({ name }) => name },
  { title: 'ACCOUNT', cell: ({ account }) => account },
  { title: 'MEMBERS', cell: membersText },
  { title: 'SINCE', cell: ({ createdAt }) => formatTime(createdAt) ?? '-' },
])

function membersText({ members: { nodes, pageInfo } }: TeamRowFragment): string {
  return [...nodes.map(({ name }) => name), ...(pageInfo.hasNextPage ? ['…'] : [])].join(',') || '-'
}

interface Changes {
  name?: string
  add?: string[]
  remove?: string[]
}

export function registerTeamCommand(program: Command, cli: Cli): void {
  const team = program.command('team').description('manage teams of users who share limits and an account')
  addOutputOption(team.command('ls'))
    .description('list teams')
    .action(async ({ output }: OutputOptions) => print(cli, await readTeams(cli), output))
  addOutputOption(team.command('create').argument('<name>'), [TeamRowFragmentDoc])
    .description('create a team and the account of the same name')
    .action(async (name: string, { output }: OutputOptions) => {
      await print(cli, [(await mutate(cli, CreateTeamDocument, { name })).team], output)
    })
  addOutputOption(team.command('set').argument('<name>'), [TeamRowFragmentDoc])
    .description('change the name or the members of a team')
    .option('--name <name>', 'new name of the team and its account')
    .option('--add <user...>', 'users to add')
    .option('--remove <user...>', 'users to remove')
    .action(async (called: string, { output, name, add = [], remove = [] }: OutputOptions & Changes) => {
      const teamId = await findTeamId(cli, called)
      const addMembers = await findUserIds(cli, add)
      const removeMembers = await findUserIds(cli, remove)
      const input = { teamId, addMembers, removeMembers, name }
      await print(cli, [(await mutate(cli, UpdateTeamDocument, input)).team], output)
    })
  team
    .command('rm')
    .argument('<name>')
    .description('delete a team; its jobs stay')
    .action(async (name: string) => {
      const { deletedId } = await mutate(cli, DeleteTeamDocument, { teamId: await findTeamId(cli, name) })
      await cli.terminal.write(`${deletedId}\n`)
    })
}

async function findUserIds(cli: Cli, names: readonly string[]): Promise<string[]> {
  const ids: string[] = []
  for (const name of names) ids.push(await findUserId(cli, name))
  return ids
}
