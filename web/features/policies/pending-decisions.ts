import { PendingDecisionsDocument } from '../../generated/graphql.ts'
import { readQueryAgain, useQuery } from '../../ground/resource.ts'

const readAgainMs = 30_000

export const refreshPendingDecisions = () => readQueryAgain(PendingDecisionsDocument, {})

/**
 * Returns the number of approvals that the viewer may decide; `first` until it has been read. It is read every 30 s, and
 * after each change that a page sees.
 */
export const usePendingDecisions = (first: number): number =>
  useQuery(PendingDecisionsDocument, {}, { everyMs: readAgainMs }).value?.viewer.pendingDecisions ?? first
