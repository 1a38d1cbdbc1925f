import { createIdempotencyKey } from '@berth-jobs/berth/client'
/** The form of a new job, kept in the tab until the server has confirmed the job: a reload loses nothing. */

export interface Draft {
  /** The spec in YAML. */
  text: string
  sweep: string
  /** One for each form: a double click, a lost answer or a reload submits once. */
  key: string
  /** When Submit was pressed, while its outcome is unknown. */
  sentAt: number | null
}

const prefix = 'berth-draft:'

/** A submission that was cut off longer ago is not continued by itself. */
export const continuedMsMax = 600_000

export const createDraft = (text: string): Draft => ({ text, sweep: '', key: createIdempotencyKey(), sentAt: null })

/** `source` is where the form began: empty, a job, or the spec of a link. */
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

/** false: the tab has no room for it. */
export function saveDraft(source: string, draft: Draft): boolean {
  try {
    sessionStorage.setItem(prefix + source, JSON.stringify(draft))
    return true
  } catch {
    return false
  }
}

export const removeDraft = (source: string): void => sessionStorage.removeItem(prefix + source)
