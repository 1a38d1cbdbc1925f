import { useEffect } from 'react'
import { PendingDecisionsDocument } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { useResource } from '../../ground/resource.ts'
import { createListeners } from '../../ground/store.ts'

const readAgainMs = 30_000
const refreshes = createListeners()

export const refreshPendingDecisions = refreshes.call

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
  useEffect(() => refreshes.add(read), [read])
  return value ?? first
}
