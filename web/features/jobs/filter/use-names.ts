import { FindTeamsDocument, FindUsersDocument } from '../../../generated/graphql.ts'
import { client } from '../../../ground/connection.ts'
import { type Resource, useResource } from '../../../ground/resource.ts'

/** Finds the id of a user or team by name; undefined: none exists, or the viewer may not see it. */
type FindId = (name: string, signal: AbortSignal) => Promise<string | undefined>

const namesMax = 100
const none: ReadonlyMap<string, string> = new Map()

export const findUser: FindId = async (name, signal) => {
  const { users } = await client.request(FindUsersDocument, { first: namesMax, filter: { text: name } }, { signal })
  return users.nodes.find((each) => each.name === name)?.id
}

const findTeam: FindId = async (name, signal) => {
  const { teams } = await client.request(FindTeamsDocument, { first: namesMax, filter: { text: name } }, { signal })
  return teams.nodes.find((each) => each.name === name)?.id
}

/** Finds the ids of the users or teams that a filter names. The result lacks names that do not exist. */
function useNames(kind: 'user' | 'team', wanted: string, find: FindId): Resource<ReadonlyMap<string, string>> {
  const names = wanted
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'me' && !name.startsWith(`${kind}_`))
  const isOff = names.length === 0
  const readId = async (name: string, signal: AbortSignal) => {
    const id = await find(name, signal)
    return id === undefined ? [] : [[name, id] as const]
  }
  const found = useResource<ReadonlyMap<string, string>>(
    `ids of the ${kind} ${names.join()}`,
    async (signal) => new Map((await Promise.all(names.map((name) => readId(name, signal)))).flat()),
    { isOff },
  )
  return isOff ? { ...found, value: none } : found
}

export const useUserNames = (wanted = '') => useNames('user', wanted, findUser)
export const useTeamNames = (wanted = '') => useNames('team', wanted, findTeam)
