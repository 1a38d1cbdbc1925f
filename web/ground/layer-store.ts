import type { ReactNode } from 'react'
import type { JobState } from '../generated/graphql.ts'
import { createStore } from './store.ts'

export interface Confirmation {
  title: string
  /** What happens, with numbers. */
  effect: ReactNode
  jobs?: readonly { id: string; name: string | null; state: JobState }[]
  /** Number of objects, if not all of them are listed. */
  count?: number
  /** The command that does the same; null: there is none. */
  command: string | null
  confirmText: string
  /** Default: "Keep". */
  keepText?: string
  /** Shows a field for a reason. */
  hasReason?: boolean
  /** Further fields. */
  form?: ReactNode
  /** The confirming button has the colour of danger; default: true. */
  isDangerous?: boolean
  /** Does it. The dialog stays open with a refusal or a partial result. */
  run: (reason: string, onProgress: (text: string) => void) => Promise<string | PartialResult | null>
}

/** Some of the objects were refused. */
export interface PartialResult {
  done: string
  refused: readonly { id: string; name: string; message: string }[]
}

export interface FormLayer {
  title: string
  content: (close: () => void) => ReactNode
}

export type Layer =
  | { kind: 'CONFIRM'; confirmation: Confirmation }
  | ({ kind: 'FORM' } & FormLayer)
  | { kind: 'PALETTE' }
  | { kind: 'KEYS' }

const layer = createStore<Layer | null>(null)

export const openLayer = (next: Layer): void => layer.change(next)
export const closeLayer = (): void => layer.change(null)
export const useLayer = layer.useValue
