import { CloseSessionDocument } from '../generated/graphql.ts'
import { client } from './connection.ts'

/**
 * Sessions of ports that this browser opened. Their pages have cookies of their own, so the log-out ends the sessions.
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
  // A server that is away ends the session later, when nothing is sent or its run is over.
  await Promise.race([Promise.allSettled(ends), new Promise((late) => setTimeout(late, endMsMax))])
}
