import { useEffect } from 'react'
import { PresenceDocument } from '../generated/graphql.ts'
import { client } from './connection.ts'

/** Keeps a stream open on every page, so that the page knows when the server is away. */
export function usePresence(): void {
  useEffect(() => {
    const leave = new AbortController()
    follow(leave.signal).catch((error: unknown) => {
      if (!leave.signal.aborted) console.warn(error)
    })
    return () => leave.abort()
  }, [])
}

async function follow(signal: AbortSignal) {
  for await (const _ of client.subscribe(PresenceDocument, {}, { signal }));
}
