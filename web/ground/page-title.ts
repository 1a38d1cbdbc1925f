import { useEffect } from 'react'
import { createStore } from './store.ts'

export interface PageTitle {
  text: string
  /** The list that the page belongs to. */
  parent: { to: '/jobs'; text: string } | null
}

const title = createStore<PageTitle>({ text: '', parent: null })

/** Sets the title in the top bar and the title of the tab. `state` is a prefix of the title of the tab. */
export function usePageTitle(text: string, { state = '', isJob = false } = {}): void {
  useEffect(() => {
    document.title = `${state === '' ? '' : `${state}: `}${text} · Berth`
    title.change({ text, parent: isJob ? { to: '/jobs', text: 'Jobs' } : null })
  }, [text, state, isJob])
}

export const useShownTitle = title.useValue
