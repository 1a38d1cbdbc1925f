import { type ReactNode, useEffect, useSyncExternalStore } from 'react'

let title: ReactNode = ''
const listeners = new Set<() => void>()

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The title of the tab and of the bar at the top. */
export function usePageTitle(text: string): void {
  useEffect(() => {
    document.title = `${text} · Berth`
    title = text
    for (const listener of listeners) listener()
  }, [text])
}

export const useShownTitle = (): ReactNode => useSyncExternalStore(subscribe, () => title)
