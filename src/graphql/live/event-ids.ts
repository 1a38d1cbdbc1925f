import type { ExecutionResult } from 'graphql'

/** Ids of server-sent events: the cursor of the message, which `Last-Event-ID` returns. */

/** A symbol: copies of the result keep it, JSON omits it. */
const key = Symbol('cursor')

type WithCursor = ExecutionResult & { [key]?: string }

export const attachCursor = (result: ExecutionResult, cursor: string | undefined): ExecutionResult =>
  cursor === undefined ? result : Object.assign({ ...result }, { [key]: cursor })

export const readCursor = (result: ExecutionResult): string | undefined => (result as WithCursor)[key]

/** graphql-yoga writes the text of `stringify` after `data: ` and ends the event with an empty line. */
export function addEventId(result: ExecutionResult): ExecutionResult {
  const cursor = (result as WithCursor)[key]
  if (cursor === undefined) return result
  return Object.assign({ ...result }, { stringify: (sent: object) => `${JSON.stringify(sent)}\nid: ${cursor}` })
}
