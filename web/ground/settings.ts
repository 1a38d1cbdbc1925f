import { createStore } from './store.ts'

/** Choices of the reader, kept by the browser. */
export interface Settings {
  theme: 'SYSTEM' | 'LIGHT' | 'DARK'
  density: 'COMPACT' | 'NORMAL' | 'TOUCH'
  /** Times by the clock instead of relative ones. */
  absoluteTimes: boolean
  /** Keys without Ctrl work outside of fields. */
  singleKeys: boolean
  /** Columns of the list of jobs; null: those that it has by default. */
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

/** Sets the attributes that the style sheets read. */
function setLook({ theme, density }: Settings): void {
  const { dataset } = document.documentElement
  if (theme === 'SYSTEM') delete dataset['theme']
  else dataset['theme'] = theme.toLowerCase()
  dataset['density'] = density.toLowerCase()
}

export const applyLook = (): void => setLook(settings.read())
export const readSettings = settings.read
export const useSettings = settings.useValue
