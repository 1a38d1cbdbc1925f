import { createIdempotencyKey } from '@berth-jobs/berth/client'
/** The input of the form for a new job, stored in the tab until the server confirms the job, so it survives a reload. */

export interface Draft {
  /** The spec in YAML. */
  text: string
  sweep: string
  /** The idempotency key of the form: a double click, a lost response or a reload submits only one job. */
  key: string
  /** When the user pressed Submit; null: not pressed, or the result is known. */
  sentAt: number | null
}

const prefix = 'berth-draft:'

/** Maximum age of an interrupted submission that continues automatically after a reload. */
export const continuedMsMax = 600_000

export const createDraft = (text: string): Draft => ({ text, sweep: '', key: createIdempotencyKey(), sentAt: null })

/** `source` names what the form was opened with: nothing, a job, or the spec of a link. */
export function loadDraft(source: string): Draft | null {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(prefix + source) ?? 'null')
    return isDraft(stored) ? stored : null
  } catch {
    return null
  }
}

const isDraft = (value: unknown): value is Draft =>
  typeof value === 'object' && value !== null && 'key' in value && 'text' in value && typeof value.text === 'string'

/** Returns false if the storage of the tab is full. */
export function saveDraft(source: string, draft: Draft): boolean {
  try {
    sessionStorage.setItem(prefix + source, JSON.stringify(draft))
    return true
  } catch {
    return false
  }
}

export const removeDraft = (source: string): void => sessionStorage.removeItem(prefix + source)
