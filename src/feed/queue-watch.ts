import { isDeepStrictEqual } from 'node:util'
import type { Viewer } from '../domain/access.ts'
import type { Domain } from '../domain/domain.ts'
import { filterNumbers, poolNumbers, type QueueNumbers } from '../domain/queue/queue.ts'
import { createBatcher } from '../platform/batch.ts'
import { type Bell, createBell } from '../platform/bell.ts'
import type { Clock } from '../platform/clock.ts'
import { createLoop } from '../platform/loop.ts'
import { readIfAvailable } from '../platform/read-if-available.ts'
import { stoppable } from '../platform/stoppable.ts'

/**
 * Snapshots of a queue: the first at once, so that an unknown pool is refused before anything is sent; then one whenever
 * the numbers that this viewer sees changed, or what the leader of the pool shows of those who wait (their reasons and their
 * order are read from it), at most four a second, and one at least every 15 s.
 *
 * The watchers of a pool in this process share a hub. It reads when jobs moved or a leader shows something else, and once a
 * second in case a wake-up was lost, but at most every `gapMs`; watchers that come meanwhile share the next read. So
 * the number of statements does not depend on the number of watchers: each gets its visible part of the same numbers in
 * memory. The database may be away: then nothing is sent until it is back. A pool without watchers has neither hub nor timer.
 */

export interface QueueWatch {
  /** Throws NotFound for an unknown pool; `pool` null: the one that the default queue leads to. */
  watch(viewer: Viewer, pool: string | null): Promise<AsyncGenerator<QueueNumbers, void, void>>
  /** Streams that are open. */
  openWatchers(): number
}

const gapMs = 250
const pollMs = 1_000
const silenceMsMax = 15_000
/** Watchers of one pool, which share each read. */
const arrivalsMax = 10_000

interface Hub {
  /** The newest numbers; `change` counts their changes. */
  latest: { numbers: QueueNumbers; change: number } | undefined
  /** Rung when the numbers change. */
  readonly bell: Bell
  /** Users whose own rows are read; one entry per watcher. */
  readonly guests: Set<{ userId: string }>
  /** Numbers whose reading begins from now on. */
  read(): Promise<QueueNumbers>
  /** Begins to look by itself. */
  start(): void
  stop(): void
}

export function createQueueWatch(domain: Domain): QueueWatch {
  const hubs = new Map<string | null, Hub>()
  let open = 0

  /** The hub of a pool, until `leave`. */
  function join(pool: string | null, { userId }: Viewer): { hub: Hub; leave: () => void } {
    const hub = hubs.get(pool) ?? createHub(domain, pool)
    hubs.set(pool, hub)
    const guest = { userId }
    hub.guests.add(guest)
    return {
      hub,
      leave() {
        hub.guests.delete(guest)
        if (hub.guests.size > 0) return
        hubs.delete(pool)
        hub.stop()
      },
    }
  }

  async function arrive(viewer: Viewer, pool: string | null): Promise<QueueNumbers> {
    const { hub, leave } = join(pool, viewer)
    try {
      return await hub.read()
    } finally {
      leave()
    }
  }

  return {
    async watch(viewer, pool) {
      const first = await arrive(viewer, pool)
      // The stream joins when it is first read, so a stream that is closed before holds no place.
      return stoppable(async function* (signal) {
        open += 1
        const { hub, leave } = join(pool, viewer)
        hub.start()
        try {
          yield* snapshots(domain.clock, { hub, viewer, first }, signal)
        } finally {
          leave()
          open -= 1
        }
      })
    },
    openWatchers: () => open,
  }
}

function createHub(domain: Domain, pool: string | null): Hub {
  const { clock, log, wakeups } = domain
  const bell = createBell(clock)
  const guests: Hub['guests'] = new Set()

  const share = createBatcher<null, QueueNumbers>({
    max: arrivalsMax,
    mayBeOneItem: () => false,
    async run(arrivals) {
      const numbers = await poolNumbers(domain, pool, [...new Set([...guests].map(({ userId }) => userId))])
      publish(numbers)
      return arrivals.map(() => numbers)
    },
  })

  function publish(numbers: QueueNumbers) {
    const { latest } = hub
    const changed = !latest || !same(latest.numbers, numbers)
    hub.latest = { numbers, change: (latest?.change ?? 0) + (changed ? 1 : 0) }
    if (changed) bell.ring()
  }

  async function look(signal: AbortSignal) {
    await readIfAvailable(log, () => share(null))
    await clock.sleep(gapMs, signal)
  }

  const loop = createLoop({ name: 'queue watch', pollMs: pollMs - gapMs, runOnce: look, clock, log })
  const listening = (['feed', 'view'] as const).map((topic) => wakeups.on(topic, loop.wake))
  const hub: Hub = {
    latest: undefined,
    bell,
    guests,
    read: () => share(null),
    start: () => loop.start(),
    stop() {
      for (const unlisten of listening) unlisten()
      void loop.stop()
    },
  }
  return hub
}

interface Watching {
  hub: Hub
  viewer: Viewer
  first: QueueNumbers
}

async function* snapshots(
  clock: Clock,
  { hub, viewer, first }: Watching,
  signal: AbortSignal,
): AsyncGenerator<QueueNumbers, void, void> {
  let sent = { read: first, shown: filterNumbers(viewer, first), at: clock.monotonicMs() }
  let change: number | undefined
  yield sent.shown
  for (;;) {
    await clock.sleep(gapMs, signal)
    const silentMs = clock.monotonicMs() - sent.at
    // After 15 s of silence any newer read is sent, changed or not.
    if (hub.latest?.change === change)
      await hub.bell.wait(silentMs < silenceMsMax ? silenceMsMax - silentMs : pollMs, signal)
    if (signal.aborted) return
    const { latest } = hub
    if (!latest || latest.numbers === sent.read) continue
    const shown = filterNumbers(viewer, latest.numbers)
    change = latest.change
    if (clock.monotonicMs() - sent.at < silenceMsMax && same(shown, sent.shown)) continue
    sent = { read: latest.numbers, shown, at: clock.monotonicMs() }
    yield shown
  }
}

const same = (one: QueueNumbers, other: QueueNumbers) => isDeepStrictEqual({ ...one, at: null }, { ...other, at: null })
