import { useEffect, useSyncExternalStore } from 'react'

export interface PageTitle {
  text: string
  /** The list that the page belongs to. */
  parent: { to: '/jobs'; text: string } | null
}

let title: PageTitle = { text: '', parent: null }
const listeners = new Set<() => void>()

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The title in the bar at the top, and that of the tab, which may begin with a state. */
export function usePageTitle(text: string, { state = '', isJob = false } = {}): void {
  useEffect(() => {
    document.title = `${state === '' ? '' : `${state}: `}${text} · Berth`
    title = { text, parent: isJob ? { to: '/jobs', text: 'Jobs' } : null }
    for (const listener of listeners) listener()
  }, [text, state, isJob])
}

export const useShownTitle = (): PageTitle => useSyncExternalStore(subscribe, () => title)
