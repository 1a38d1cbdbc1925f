import { stoppable } from '../platform/stoppable.ts'
import { createHubs, type HubsOptions } from './hubs.ts'
import type { FollowOptions, TailMessage } from './tail-message.ts'
import { TailReader } from './tail-reader.ts'

/**
 * Streams the log of a job, or of one of its runs: first stored output (REPLAY), then new output (LIVE). The stream
 * ends after exactly one batch with `isFinal`, or with a reset when the job was deleted. Readers pull: a slow reader
 * gets fewer, larger batches, and a stopped one holds about a page.
 */

export type LogTail = ReturnType<typeof createLogTail>

export function createLogTail(options: HubsOptions) {
  const rooms = { ...options, hubs: createHubs(options) }
  let open = 0
  return {
    follow: (follow: FollowOptions): AsyncGenerator<TailMessage, void, void> =>
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
