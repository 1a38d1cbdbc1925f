import type { ExecutionResult } from 'graphql'
import type { RequestContext } from '../rows/context.ts'

/** Maximum messages that are executed ahead of their reader. */
const togetherMax = 32

type Execute = (message: unknown, context: RequestContext, signal: AbortSignal) => Promise<ExecutionResult>

/**
 * Executes the messages of a page of replayed events (feed/message.ts, `page`) together, with the loaders of one
 * context.
 */
export function createReplayedPages(
  createContext: () => RequestContext,
  execute: Execute,
): (message: unknown, signal: AbortSignal) => Promise<ExecutionResult> {
  const begun = new Map<unknown, Promise<ExecutionResult>>()

  function begin(message: unknown, signal: AbortSignal) {
    const context = createContext()
    const page = readPage(message)
    const first = page.indexOf(message)
    begun.clear()
    for (const each of page.slice(first, first + togetherMax)) {
      const result = execute(each, context, signal)
      result.catch(() => undefined) // The reader of the result gets the error.
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

const readPage = (message: unknown): readonly unknown[] =>
  typeof message === 'object' && message !== null && 'page' in message && Array.isArray(message.page)
    ? message.page
    : [message]
