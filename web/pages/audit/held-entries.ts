import { useState } from 'react'
import type { AuditItemFragment } from '../../generated/graphql.ts'

const none: readonly AuditItemFragment[] = []

/** New entries wait while the list is held; older ones, which are added at the end, do not. */
export function useHeldEntries(rows: readonly AuditItemFragment[] = none, isHeld: boolean) {
  const [newestId, setNewest] = useState(rows[0]?.id)
  const at = rows.findIndex(({ id }) => id === newestId)
  // Another filter: the entry that was the newest is not in the list.
  const isFree = !isHeld || at === -1
  if (isFree && rows[0]?.id !== newestId) setNewest(rows[0]?.id)
  return {
    shown: isFree ? rows : rows.slice(at),
    newCount: isFree ? 0 : at,
    apply: () => setNewest(rows[0]?.id),
  }
}
