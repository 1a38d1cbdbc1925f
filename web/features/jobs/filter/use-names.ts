import { FindTeamsDocument, UserNamesDocument } from '../../../generated/graphql.ts'
import { client } from '../../../ground/connection.ts'
import { useResource } from '../../../ground/resource.ts'

type Found = readonly { id: string; name: string }[]
type Find = (name: string, signal: AbortSignal) => Promise<Found>

const namesMax = 100
const none: ReadonlyMap<string, string> = new Map()

const findUsers: Find = async (text, signal) =>
  (await client.request(UserNamesDocument, { first: namesMax, filter: { text } }, { signal })).users.nodes

const findTeams: Find = async (text, signal) =>
  (await client.request(FindTeamsDocument, { first: namesMax, filter: { text } }, { signal })).teams.nodes

/** Ids of the objects that a filter names; null: they are being read. */
function useNames(kind: 'user' | 'team', wanted: string, find: Find): ReadonlyMap<string, string> | null {
  const names = wanted.split(',').filter((name) => name !== '' && name !== 'me' && !name.startsWith(`${kind}_`))
  const isOff = names.length === 0
  const readId = async (name: string, signal: AbortSignal) =>
    (await find(name, signal)).filter((each) => each.name === name).map(({ id }) => [name, id] as const)
  const { value, failure } = useResource(
    `${kind} names ${names.join()}`,
    async (signal) => new Map((await Promise.all(names.map((name) => readId(name, signal)))).flat()),
    { isOff },
  )
  return value ?? (isOff || failure ? none : null)
}

export const useUserNames = (wanted = '') => useNames('user', wanted, findUsers)
export const useTeamNames = (wanted = '') => useNames('team', wanted, findTeams)
