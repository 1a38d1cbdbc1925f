import { useSyncExternalStore } from 'react'

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

function readStored(): Settings {
  try {
    return { ...defaults, ...(JSON.parse(localStorage.getItem(storageKey) ?? '{}') as Partial<Settings>) }
  } catch {
    return defaults
  }
}

let settings = readStored()
const listeners = new Set<() => void>()

export function changeSettings(change: Partial<Settings>): void {
  settings = { ...settings, ...change }
  localStorage.setItem(storageKey, JSON.stringify(settings))
  applyLook()
  for (const listener of listeners) listener()
}

/** Sets the attributes that the style sheets read. */
export function applyLook(): void {
  const { dataset } = document.documentElement
  if (settings.theme === 'SYSTEM') delete dataset['theme']
  else dataset['theme'] = settings.theme.toLowerCase()
  dataset['density'] = settings.density.toLowerCase()
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const readSettings = (): Settings => settings
export const useSettings = (): Settings => useSyncExternalStore(subscribe, readSettings)
