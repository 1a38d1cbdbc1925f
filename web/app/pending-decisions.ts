import { useEffect } from 'react'
import { PendingDecisionsDocument } from '../generated/graphql.ts'
import { client } from './connection.ts'
import { useResource } from './resource.ts'

const readAgainMs = 30_000
const listeners = new Set<() => void>()

export function refreshPendingDecisions(): void {
  for (const listener of listeners) listener()
}

/**
 * Number of approvals that the viewer may decide, at the start `first`. Read every 30 s, and after each change that a page
 * sees.
 */
export function usePendingDecisions(first: number): number {
  const { value, read } = useResource(
    'pending decisions',
    async (signal) => (await client.request(PendingDecisionsDocument, {}, { signal })).viewer.pendingDecisions,
    { everyMs: readAgainMs },
  )
  useEffect(() => {
    listeners.add(read)
    return () => void listeners.delete(read)
  }, [read])
  return value ?? first
}
