import { client } from '../app/connection.ts'
import { useResource } from '../app/resource.ts'
import { UserNamesDocument } from '../generated/graphql.ts'

const usersMax = 100
const none: ReadonlyMap<string, string> = new Map()

/** Ids of users by name, once a filter names one; null: they are being read. */
export function useUserNames(wanted: string | undefined): ReadonlyMap<string, string> | null {
  const isOff = wanted === undefined || wanted.split(',').every((name) => name === 'me' || name.startsWith('user_'))
  const { value, failure } = useResource(
    'user names',
    async (signal) => {
      const { users } = await client.request(UserNamesDocument, { first: usersMax }, { signal })
      return new Map(users.nodes.map(({ id, name }) => [name, id]))
    },
    { isOff },
  )
  return value ?? (isOff || failure ? none : null)
}
