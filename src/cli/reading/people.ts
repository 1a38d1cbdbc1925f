import {
  TeamsDocument,
  TokensDocument,
  UsersDocument,
  UsersWithRightsDocument,
  WhoAmIDocument,
} from '../../client/generated/graphql.ts'
import type { Cli } from '../frame/cli.ts'
import { exitCodes, Stop } from '../frame/exit.ts'
import { readEveryNode } from './pages.ts'

export const readUsers = (cli: Cli) =>
  readEveryNode(async (page) => (await cli.connection().request(UsersDocument, page)).users)

/** Reads users with their rights. Callers without user.write see only their own rights. */
export async function readUsersWithRights(cli: Cli) {
  const { viewer } = await cli.connection().request(WhoAmIDocument, {})
  if (viewer.permissions.includes('USER_WRITE'))
    return readEveryNode(async (page) => (await cli.connection().request(UsersWithRightsDocument, page)).users)
  return (await readUsers(cli)).map((user) => (user.id === viewer.user.id ? viewer.user : user))
}

export const readTeams = (cli: Cli) =>
  readEveryNode(async (page) => (await cli.connection().request(TeamsDocument, page)).teams)

export const readTokens = (cli: Cli, userId: string | null) =>
  readEveryNode(async (page) => (await cli.connection().request(TokensDocument, { ...page, userId })).tokens)

export const findUserId = async (cli: Cli, called: string) => idOf(await readUsers(cli), called, 'user')
export const findTeamId = async (cli: Cli, called: string) => idOf(await readTeams(cli), called, 'team')

export async function findTokenId(cli: Cli, called: string): Promise<string> {
  const known = (await readTokens(cli, null)).map(({ id, prefix }) => ({ id, name: prefix }))
  return idOf(known, called, 'token')
}

function idOf(known: readonly { id: string; name: string }[], called: string, noun: string): string {
  const found = known.find(({ id, name }) => called === id || called === name)
  if (found) return found.id
  throw new Stop(
    exitCodes.notFound,
    `${noun[0]?.toUpperCase()}${noun.slice(1)} ${called} not found`,
    `"berth ${noun} ls" lists the ${noun}s`,
  )
}
