import { createClient, RequestFailed } from '@berth-jobs/berth/client'
import { ViewerFactsDocument } from '../generated/graphql.ts'
import { baseUrl } from './base-url.ts'

/** Returns the id of the user whose token it is; null: the server refuses the token. */
export async function findUserOfToken(token: string): Promise<string | null> {
  const trial = createClient({ url: baseUrl, token })
  try {
    return (await trial.request(ViewerFactsDocument, {})).viewer.user.id
  } catch (error) {
    if (error instanceof RequestFailed && error.code === 'UNAUTHENTICATED') return null
    throw error
  } finally {
    await trial.close()
  }
}
