import {
  OneTeamDocument,
  OneUserDocument,
  type TeamItemFragment,
  type UserItemFragment,
} from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'

/** null: it does not exist, or the viewer may not see it. */
export async function readUser(id: string, signal?: AbortSignal): Promise<UserItemFragment | null> {
  const { node } = await client.request(OneUserDocument, { id }, signal ? { signal } : {})
  return node?.__typename === 'User' ? node : null
}

export async function readTeam(id: string, signal?: AbortSignal): Promise<TeamItemFragment | null> {
  const { node } = await client.request(OneTeamDocument, { id }, signal ? { signal } : {})
  return node?.__typename === 'Team' ? node : null
}
