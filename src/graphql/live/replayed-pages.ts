import type { ExecutionResult } from 'graphql'
import type { RequestContext } from '../rows/context.ts'

/**
 * Replayed events come in pages (feed/message.ts, `page`). The messages of a page are executed together with one context: its
 * loaders then read the users, runs and teams of all of them by one statement each, and not once for each event. A live
 * event has a context of its own.
 */

/** Messages that are executed together, as many as are executed at a time. The reader has not taken their results yet. */
const togetherMax = 32

type Execute = (message: unknown, context: RequestContext, signal: AbortSignal) => Promise<ExecutionResult>

export function createReplayedPages(
  createContext: () => RequestContext,
  execute: Execute,
): (message: unknown, signal: AbortSignal) => Promise<ExecutionResult> {
  const begun = new Map<unknown, Promise<ExecutionResult>>()

  function begin(message: unknown, signal: AbortSignal) {
    const context = createContext()
    const page = pageOf(message)
    const first = page.indexOf(message)
    begun.clear()
    for (const each of page.slice(first, first + togetherMax)) {
      const result = execute(each, context, signal)
      result.catch(() => undefined) // It is thrown where the result is taken.
      begun.set(each, result)
    }
  }

  return (message, signal) => {
    if (!begun.has(message)) begin(message, signal)
    const result = begun.get(message)
    begun.delete(message)
    return result ?? execute(message, createContext(), signal)
  }
}

const pageOf = (message: unknown): readonly unknown[] =>
  typeof message === 'object' && message !== null && 'page' in message && Array.isArray(message.page)
    ? message.page
    : [message]
