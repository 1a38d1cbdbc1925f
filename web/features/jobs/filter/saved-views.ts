import { useSyncExternalStore } from 'react'
import {
  DropViewDocument,
  KeepViewDocument,
  ListViewsDocument,
  type SaveViewInput,
  type ViewRowFragment,
} from '../../../generated/graphql.ts'
import { client } from '../../../ground/connection.ts'
import type { Refusal } from '../../../parts/form.tsx'
import { isRefused, toRefusal } from '../../../parts/refusal.ts'

export type SavedView = ViewRowFragment

export interface Views {
  views: readonly SavedView[]
  /** Teams that a view can be shared with. */
  teams: readonly { id: string; name: string }[]
}

let views: Views = { views: [], teams: [] }
let wasRead = false
const listeners = new Set<() => void>()

function change(next: Views) {
  views = next
  for (const listener of listeners) listener()
}

async function read(): Promise<void> {
  const { savedViews, viewer } = await client.request(ListViewsDocument, {}, { attempts: Number.POSITIVE_INFINITY })
  const byName = savedViews.toSorted((a, b) => a.name.localeCompare(b.name))
  change({ views: byName, teams: viewer.user.teams })
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  if (!wasRead) {
    wasRead = true
    read().catch(() => (wasRead = false))
  }
  return () => listeners.delete(listener)
}

/** Views of this user, of the user's teams, and of everyone. */
export const useSavedViews = (): Views => useSyncExternalStore(subscribe, () => views)

export async function saveView(input: SaveViewInput): Promise<Refusal | null> {
  const { saveView: result } = await client.request(KeepViewDocument, { input }, { attempts: 1 })
  if (isRefused(result)) return toRefusal(result)
  await read()
  return null
}

export async function deleteView({ id, version }: SavedView): Promise<Refusal | null> {
  const input = { savedViewId: id, expectedVersion: version }
  const { deleteView: result } = await client.request(DropViewDocument, { input }, { attempts: 1 })
  if (isRefused(result)) return toRefusal(result)
  await read()
  return null
}

export const readViewSearch = ({ search }: Pick<SavedView, 'search'>): Record<string, string> =>
  Object.fromEntries(new URLSearchParams(search))
