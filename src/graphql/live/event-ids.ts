import type { ExecutionResult } from 'graphql'

/** The id of a server-sent event is the cursor of its message. A browser returns it as `Last-Event-ID`. */

/** A symbol, because copies of the result keep it, and JSON omits it. */
const key = Symbol('cursor')

type WithCursor = ExecutionResult & { [key]?: string }

export const attachCursor = (result: ExecutionResult, cursor: string | undefined): ExecutionResult =>
  cursor === undefined ? result : Object.assign({ ...result }, { [key]: cursor })

export const readCursor = (result: ExecutionResult): string | undefined => (result as WithCursor)[key]

/** Makes `stringify` add an `id:` line. graphql-yoga writes its text after `data: ` and ends the event with an empty line. */
export function addEventId(result: ExecutionResult): ExecutionResult {
  const cursor = (result as WithCursor)[key]
  if (cursor === undefined) return result
  return Object.assign({ ...result }, { stringify: (sent: object) => `${JSON.stringify(sent)}\nid: ${cursor}` })
}
