import type { ExecutionResult } from 'graphql'
import type { RequestContext } from '../rows/context.ts'

/** Maximum messages that are executed ahead of their reader. */
const togetherMax = 32

type Execute = (message: unknown, context: () => RequestContext, signal: AbortSignal) => Promise<ExecutionResult>

/**
 * Executes the messages of a page of replayed events (feed/message.ts, `page`) together, with the loaders of one
 * context. A context is made when an execution needs it: most messages have been executed for another subscriber.
 */
export function createReplayedPages(
  createContext: () => RequestContext,
  execute: Execute,
): (message: unknown, signal: AbortSignal) => Promise<ExecutionResult> {
  const begun = new Map<unknown, Promise<ExecutionResult>>()

  function begin(page: readonly unknown[], message: unknown, signal: AbortSignal) {
    const context = onDemand(createContext)
    const first = page.indexOf(message)
    begun.clear()
    for (const each of page.slice(first, first + togetherMax)) {
      const result = execute(each, context, signal)
      result.catch(() => undefined) // The reader of the result gets the error.
      begun.set(each, result)
    }
  }

  return (message, signal) => {
    const page = readPage(message)
    if (page && !begun.has(message)) begin(page, message, signal)
    const result = begun.get(message)
    begun.delete(message)
    return result ?? execute(message, onDemand(createContext), signal)
  }
}

function onDemand<T>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}

const readPage = (message: unknown): readonly unknown[] | undefined =>
  typeof message === 'object' && message !== null && 'page' in message && Array.isArray(message.page)
    ? message.page
    : undefined
