import { isDeepStrictEqual } from 'node:util'
import type { Viewer } from '../domain/access.ts'
import type { Domain } from '../domain/domain.ts'
import { filterNumbers, poolNumbers, type QueueNumbers } from '../domain/queue/queue.ts'
import { createBatcher } from '../platform/batch.ts'
import { createBell } from '../platform/bell.ts'
import type { Clock } from '../platform/clock.ts'
import { createLoop } from '../platform/loop.ts'
import { readIfAvailable } from '../platform/read-if-available.ts'
import { stoppable } from '../platform/stoppable.ts'

/**
 * Snapshots of a queue: the first at once, then one whenever the viewer's numbers or the views of the leader change,
 * at most four a second, and one at least every 15 s. The watchers of a pool share a hub, which reads at most every
 * `gapMs`, so the number of statements does not depend on the number of watchers. While the database is away nothing
 * is sent.
 */

export type QueueWatch = ReturnType<typeof createQueueWatch>

const gapMs = 250
const pollMs = 1_000
const silenceMsMax = 15_000
/** Watchers of one pool, which share each read. */
const arrivalsMax = 10_000
const poolsMax = 100

type Hub = ReturnType<typeof createHub>

export function createQueueWatch(domain: Domain) {
  const hubs = new Map<string, Hub>()
  let open = 0

  function join(pool: string, { userId }: Viewer): { hub: Hub; leave: () => void } {
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

  async function arrive(viewer: Viewer, pool: string): Promise<QueueNumbers> {
    const { hub, leave } = join(pool, viewer)
    try {
      return await hub.read()
    } finally {
      leave()
    }
  }

  return {
    /** Throws NotFound for an unknown pool; `pool` null: all pools. */
    async watch(viewer: Viewer, pool: string | null): Promise<AsyncGenerator<QueueNumbers, void, void>> {
      const pools = pool === null ? await readPoolNames(domain) : [pool]
      const firsts = await Promise.all(pools.map((each) => arrive(viewer, each)))
      // The stream joins when it is first read, so a stream that is closed before holds no place.
      return stoppable(async function* (signal) {
        open += 1
        const joined = firsts.map((first) => ({ first, viewer, ...join(first.pool, viewer) }))
        for (const { hub } of joined) hub.start()
        try {
          yield* mergeStreams(joined.map((each) => snapshots(domain.clock, each, signal)))
        } finally {
          for (const { leave } of joined) leave()
          open -= 1
        }
      })
    },
    openWatchers: () => open,
  }
}

function createHub(domain: Domain, pool: string) {
  const { clock, log, wakeups } = domain
  const bell = createBell(clock)
  /** Users whose own rows are read; one entry per watcher. */
  const guests = new Set<{ userId: string }>()

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
  const hub = {
    /** `change` counts the changes. */
    latest: undefined as { numbers: QueueNumbers; change: number } | undefined,
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

async function* snapshots(
  clock: Clock,
  { hub, viewer, first }: { hub: Hub; viewer: Viewer; first: QueueNumbers },
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

/** Pools are declared in the configuration, so a running server gets no others. */
async function readPoolNames({ db }: Domain): Promise<string[]> {
  const pools = await db.prisma.pool.findMany({ select: { name: true }, orderBy: { name: 'asc' }, take: poolsMax })
  return pools.map(({ name }) => name)
}

/** A source is read on when its last item was taken. */
async function* mergeStreams<T>(sources: readonly AsyncGenerator<T, void, void>[]): AsyncGenerator<T, void, void> {
  const read = async (source: AsyncGenerator<T, void, void>) => ({ source, result: await source.next() })
  const pending = new Map(sources.map((source) => [source, read(source)]))
  while (pending.size > 0) {
    const { source, result } = await Promise.race(pending.values())
    if (result.done) pending.delete(source)
    else {
      yield result.value
      pending.set(source, read(source))
    }
  }
}

const same = (one: QueueNumbers, other: QueueNumbers) => isDeepStrictEqual({ ...one, at: null }, { ...other, at: null })
