/**
 * Variables of a subscription that resumes. Every message carries a cursor; `after` moves with it in place, on the object that
 * the next attempt sends. With the server's order each message arrives exactly once. The first variables would replay everything.
 */

export interface Resumable {
  after?: string | null | undefined
  lastLines?: number | null | undefined
  /** Pool of a stream of snapshots, which have no cursor: each one is complete. */
  pool?: string | null | undefined
}

/** Variables that move with the messages: call `advance` with the data of each. */
export function advancing<Variables extends Resumable>(variables: Variables) {
  const moving = { ...variables }
  return {
    variables: moving,
    advance(data: object) {
      const cursor = cursorOf(data)
      if (cursor === undefined) return
      moving.after = cursor
      delete moving.lastLines // the cursor replaces the starting point
    },
  }
}

function cursorOf(data: object): string | undefined {
  for (const message of Object.values(data) as unknown[])
    if (typeof message === 'object' && message !== null && 'cursor' in message && typeof message.cursor === 'string')
      return message.cursor
  return undefined
}
