import { CloseSessionDocument } from '../generated/graphql.ts'
import { client } from './connection.ts'

/**
 * Ids of the port sessions that this browser opened. Their pages have their own cookies, so log-out must end the sessions.
 */
const storageKey = 'berth-opened-ports'
const sessionsMax = 20
const endMsMax = 1_000

const readIds = () => JSON.parse(localStorage.getItem(storageKey) ?? '[]') as string[]

export const noteOpenedPort = (sessionId: string): void =>
  localStorage.setItem(storageKey, JSON.stringify([...readIds(), sessionId].slice(-sessionsMax)))

export async function closeOpenedPorts(): Promise<void> {
  const ids = readIds()
  localStorage.removeItem(storageKey)
  const ends = ids.map((sessionId) => client.request(CloseSessionDocument, { input: { sessionId } }))
  // If the server is unreachable, it ends the session later: when the session is idle or its run has ended.
  await Promise.race([Promise.allSettled(ends), new Promise((late) => setTimeout(late, endMsMax))])
}
