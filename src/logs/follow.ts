import { stoppable } from '../platform/stoppable.ts'
import { createHubs, type HubsOptions } from './hubs.ts'
import type { FollowOptions, TailMessage } from './tail-message.ts'
import { TailReader } from './tail-reader.ts'

/**
 * A job's log as a stream: what is stored first (REPLAY), then what comes (LIVE), over all runs of the job, or of one.
 * It ends by itself, after exactly one batch with `isFinal`, when the log is closed and all of it was sent; or after a
 * reset, when the job was deleted. A database that does not answer only delays it. A reader pulls: one that is slow gets
 * fewer, larger batches, and one that stopped keeps a page as it is stored (stored.ts, `pageBytes`), a few unpacked chunks
 * and a few objects.
 */

export interface LogTail {
  follow(options: FollowOptions): AsyncGenerator<TailMessage, void, void>
  /** Streams that are open. */
  openFollowers(): number
}

export function createLogTail(options: HubsOptions): LogTail {
  const rooms = { ...options, hubs: createHubs(options) }
  let open = 0
  return {
    follow: (follow) =>
      stoppable(async function* (signal) {
        open += 1
        const reader = new TailReader(rooms, follow, signal)
        try {
          yield* reader.messages()
        } finally {
          open -= 1
          reader.close()
        }
      }),
    openFollowers: () => open,
  }
}
