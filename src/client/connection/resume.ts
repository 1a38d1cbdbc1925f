/** Variables of a subscription that resumes. */
export interface Resumable {
  after?: string | null | undefined
  lastLines?: number | null | undefined
  /** The pool of a stream of snapshots. These have no cursor, because each one is complete. */
  pool?: string | null | undefined
}

/** Call `advance` with the data of each message: its cursor moves `after` in place, on the object that the next attempt sends. */
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
