import {
  TeamsDocument,
  TokensDocument,
  UsersDocument,
  UsersWithRightsDocument,
  WhoAmIDocument,
} from '../client/generated/graphql.ts'
import type { Cli } from './cli.ts'
import { exitCodes, Stop } from './exit.ts'
import { everyNode } from './pages.ts'

/** Users, teams and tokens by name (a token by its prefix) or by id. */
export const users = (cli: Cli) =>
  everyNode(async (page) => (await cli.connection().request(UsersDocument, page)).users)

/** Rights of other users are shown to holders of user.write; others get their own. */
export async function usersWithRights(cli: Cli) {
  const { viewer } = await cli.connection().request(WhoAmIDocument, {})
  if (viewer.permissions.includes('user.write'))
    return everyNode(async (page) => (await cli.connection().request(UsersWithRightsDocument, page)).users)
  return (await users(cli)).map((user) => (user.id === viewer.user.id ? viewer.user : user))
}

export const teams = (cli: Cli) =>
  everyNode(async (page) => (await cli.connection().request(TeamsDocument, page)).teams)

export const tokens = (cli: Cli, userId: string | null) =>
  everyNode(async (page) => (await cli.connection().request(TokensDocument, { ...page, userId })).tokens)

interface Called {
  id: string
  name: string
}

export async function userIdOf(cli: Cli, called: string): Promise<string> {
  return idOf(await users(cli), called, 'user')
}

export async function teamIdOf(cli: Cli, called: string): Promise<string> {
  return idOf(await teams(cli), called, 'team')
}

export async function tokenIdOf(cli: Cli, called: string): Promise<string> {
  const known = (await tokens(cli, null)).map(({ id, prefix }) => ({ id, name: prefix }))
  return idOf(known, called, 'token')
}

function idOf(known: readonly Called[], called: string, noun: string): string {
  const found = known.find(({ id, name }) => called === id || called === name)
  if (found) return found.id
  throw new Stop(exitCodes.notFound, `There is no ${noun} ${called}`, `see "berth ${noun} ls"`)
}
