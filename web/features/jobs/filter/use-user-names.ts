import { UserNamesDocument } from '../../../generated/graphql.ts'
import { client } from '../../../ground/connection.ts'
import { useResource } from '../../../ground/resource.ts'

const usersMax = 100
const none: ReadonlyMap<string, string> = new Map()

async function findUser(name: string, signal: AbortSignal): Promise<[name: string, id: string][]> {
  const { users } = await client.request(UserNamesDocument, { first: usersMax, filter: { text: name } }, { signal })
  return users.nodes.filter((user) => user.name === name).map(({ id }) => [name, id])
}

/** Ids of the users that a filter names; null: they are being read. */
export function useUserNames(wanted = ''): ReadonlyMap<string, string> | null {
  const names = wanted.split(',').filter((name) => name !== '' && name !== 'me' && !name.startsWith('user_'))
  const isOff = names.length === 0
  const { value, failure } = useResource(
    `user names ${names.join()}`,
    async (signal) => new Map((await Promise.all(names.map((name) => findUser(name, signal)))).flat()),
    { isOff },
  )
  return value ?? (isOff || failure ? none : null)
}
