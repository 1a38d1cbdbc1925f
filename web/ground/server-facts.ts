import { createContext, use } from 'react'
import type { ServerFactsQuery, ViewerFactsQuery } from '../generated/graphql.ts'
import { ServerFactsDocument, ViewerFactsDocument } from '../generated/graphql.ts'
import { anonymous, client } from './connection.ts'
import { logInFirst } from './log-in-first.ts'
import { setServerTime } from './server-clock.ts'
import { session } from './session.ts'

export type ServerFacts = ServerFactsQuery['serverInfo']
export type ViewerFacts = ViewerFactsQuery['viewer']

const clockLookMs = 600_000
const forever = Number.POSITIVE_INFINITY

export async function readServerFacts(): Promise<ServerFacts> {
  const askedMs = Date.now()
  const { serverInfo } = await anonymous.request(ServerFactsDocument, {}, { attempts: forever })
  setServerTime(serverInfo.at, { askedMs, answeredMs: Date.now() })
  return serverInfo
}

export interface Start {
  server: ServerFacts
  viewer: ViewerFacts
  links: ViewerFactsQuery['serverInfo']['links']
  /** Parent domain of the host names of ports of jobs; null: ports have no host names. */
  jobsHost: string | null
}

/** Reads the facts that every page needs. If the server has users, it waits for a log-in first. */
export async function startConsole(): Promise<Start> {
  const server = await readServerFacts()
  setInterval(() => void readServerFacts().catch(console.warn), clockLookMs)
  if (!server.singleUser) await logInFirst(server)
  const { viewer, serverInfo } = await client.request(ViewerFactsDocument, {}, { attempts: forever })
  if (!server.singleUser) session.setUser(viewer.user.id)
  return { server, viewer, links: serverInfo.links, jobsHost: serverInfo.jobsHost }
}

export const StartContext = createContext<Start | null>(null)

export function useStart(): Start {
  const start = use(StartContext)
  if (!start) throw new Error('The page is shown before the start of the console')
  return start
}
