import type { ReactNode } from 'react'
import type { JobState } from '../generated/graphql.ts'
import { createStore } from './store.ts'

export interface Confirmation {
  title: string
  /** What the action will change, with numbers. */
  effect: ReactNode
  jobs?: readonly { id: string; name: string | null; state: JobState }[]
  /** Number of objects, if not all of them are listed. */
  count?: number
  /** Above this number of objects, the user must type the number; default: 20. */
  untypedMax?: number
  /** The `berth` command that does the same; null: there is none. */
  command: string | null
  confirmText: string
  /** Text of the button that closes the dialog without the action; default: "Keep", or "Back" if it is not dangerous. */
  keepText?: string
  /** Shows a field for a reason. */
  hasReason?: boolean
  /** Fields below the effect. */
  form?: ReactNode
  /** true (default): the confirm button is red. */
  isDangerous?: boolean
  /** Runs the action. If it returns a refusal or a partial result, the dialog stays open and shows it. */
  run: (reason: string, onProgress: (text: string) => void) => Promise<string | PartialResult | null>
}

/** The result of an action that the server refused for some of the objects. */
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
