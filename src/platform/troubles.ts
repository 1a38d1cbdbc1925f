import { explainUnavailability, isUnavailable, Unavailable } from './tx.ts'

/**
 * During an outage (the database is unreachable, a disk is full), every loop, stream and request fails. The log reports
 * it with two lines per part of the server: at its first failure, and after `quietMs` without a failure, which is
 * longer than every pause before a retry. Defects are logged each time.
 */

export interface Trouble {
  kind: string
  what: string
}

interface EndedTrouble {
  part: string
  /** Times of the first and last failure. */
  since: string
  until: string
  failures: number
}

interface Ongoing {
  sinceMs: number
  untilMs: number
  failures: number
  timer: NodeJS.Timeout
}

/** A resource that the server needs, such as its data directory, is missing but may come back. */
export class Outage extends Error {
  override name = 'Outage'
}

const quietMsDefault = 20_000

export function createOutageLog(onEnded: (over: EndedTrouble) => void, quietMs = quietMsDefault) {
  const troubles = new Map<string, Ongoing>()

  function end(key: string, part: string) {
    const trouble = troubles.get(key)
    if (!trouble) return
    troubles.delete(key)
    const { sinceMs, untilMs, failures } = trouble
    onEnded({ part, since: new Date(sinceMs).toISOString(), until: new Date(untilMs).toISOString(), failures })
  }

  return {
    /** Returns true for the first failure of this kind in this part of the server. */
    begins(part: string, { kind }: Trouble): boolean {
      const key = `${kind} ${part}`
      const nowMs = Date.now()
      const ongoing = troubles.get(key)
      if (ongoing) {
        Object.assign(ongoing, { untilMs: nowMs, failures: ongoing.failures + 1 })
        ongoing.timer.refresh()
        return false
      }
      const timer = setTimeout(() => end(key, part), quietMs).unref()
      troubles.set(key, { sinceMs: nowMs, untilMs: nowMs, failures: 1, timer })
      return true
    },
  }
}

const exhausted = /^(ENOSPC|EDQUOT|EROFS|EIO|EMFILE|ENFILE|ENOMEM|EAGAIN)$/

/** Returns the outage that an error belongs to, or null if the error is a defect. */
export function classifyTrouble(error: unknown): Trouble | null {
  if (!(error instanceof Error)) return null
  const root = rootOf(error)
  if (root instanceof Outage) return { kind: 'outage', what: root.message }
  const { code } = root as { code?: unknown }
  if (typeof code === 'string' && exhausted.test(code)) return { kind: code, what: root.message }
  if (!(error instanceof Unavailable) && !isUnavailable(error)) return null
  const why = error instanceof Unavailable ? error.message : explainUnavailability(error)
  const what = root === error && error instanceof Unavailable ? why : `${why}: ${wordsOf(root)}`
  return { kind: isUnavailable(root) ? explainUnavailability(root) : 'unavailable', what }
}

const causesMax = 10

function rootOf(error: Error): Error {
  let root = error
  for (let depth = 0; depth < causesMax && root.cause instanceof Error; depth++) root = root.cause
  return root
}

/** For a host with several addresses the error is an AggregateError, whose own message is empty. */
const wordsOf = (error: Error): string =>
  error.message || (error instanceof AggregateError ? error.errors.map(String).join(', ') : error.name)
