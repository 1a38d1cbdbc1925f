import { createStore } from './store.ts'

/** Settings of the user, stored in the browser. */
export interface Settings {
  theme: 'SYSTEM' | 'LIGHT' | 'DARK'
  density: 'COMPACT' | 'NORMAL' | 'TOUCH'
  /** true: shows "14:20" instead of "4 min ago". */
  absoluteTimes: boolean
  /** true: shortcuts without Ctrl work outside of fields. */
  singleKeys: boolean
  /** Columns of the job list; null: the default columns. */
  jobColumns: readonly string[] | null
  logTimes: 'OFF' | 'EXACT' | 'RELATIVE'
  logWraps: boolean
}

const storageKey = 'berth-settings'
const defaults: Settings = {
  theme: 'SYSTEM',
  density: 'NORMAL',
  absoluteTimes: false,
  singleKeys: true,
  jobColumns: null,
  logTimes: 'OFF',
  logWraps: false,
}

function readStoredSettings(): Settings {
  try {
    return { ...defaults, ...(JSON.parse(localStorage.getItem(storageKey) ?? '{}') as Partial<Settings>) }
  } catch {
    return defaults
  }
}

const settings = createStore(readStoredSettings())

export function changeSettings(change: Partial<Settings>): void {
  const next = { ...settings.read(), ...change }
  localStorage.setItem(storageKey, JSON.stringify(next))
  setLook(next)
  settings.change(next)
}

/** Sets the attributes of the document that the style sheets use. */
function setLook({ theme, density }: Settings): void {
  const { dataset } = document.documentElement
  if (theme === 'SYSTEM') delete dataset['theme']
  else dataset['theme'] = theme.toLowerCase()
  dataset['density'] = density.toLowerCase()
}

export const applyLook = (): void => setLook(settings.read())
export const readSettings = settings.read
export const useSettings = settings.useValue
