import { useEffect } from 'react'
import {
  DropViewDocument,
  KeepViewDocument,
  ListViewsDocument,
  type SaveViewInput,
  type ViewRowFragment,
} from '../../../generated/graphql.ts'
import { client } from '../../../ground/connection.ts'
import { createStore } from '../../../ground/store.ts'
import type { Refusal } from '../../../parts/form.tsx'
import { isRefused, toRefusal } from '../../../parts/refusal.ts'

export type SavedView = ViewRowFragment

export interface Views {
  views: readonly SavedView[]
  /** Teams that a view can be shared with. */
  teams: readonly { id: string; name: string }[]
}

const stored = createStore<Views>({ views: [], teams: [] })
let wasRead = false

async function read(): Promise<void> {
  const { savedViews, viewer } = await client.request(ListViewsDocument, {}, { attempts: Number.POSITIVE_INFINITY })
  const byName = savedViews.toSorted((a, b) => a.name.localeCompare(b.name))
  stored.change({ views: byName, teams: viewer.user.teams })
}

/** Returns the saved views that the viewer sees: own ones, those of the viewer's teams, and public ones. */
export function useSavedViews(): Views {
  useEffect(() => {
    if (wasRead) return
    wasRead = true
    read().catch(() => (wasRead = false))
  }, [])
  return stored.useValue()
}

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
