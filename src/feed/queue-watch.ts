import { isDeepStrictEqual } from 'node:util'
import type { Viewer } from '../domain/access.ts'
import type { Domain } from '../domain/domain.ts'
import { filterQueueCounts, type QueueCounts, readQueueCountsOfPool } from '../domain/queue/queue.ts'
import type { Clock } from '../platform/clock.ts'
import { stoppable } from '../platform/stoppable.ts'
import { createPoolHubs, type PoolHub } from './pool-hubs.ts'

/**
 * Streams snapshots of a queue: the first at once, further ones when the viewer's numbers or the views of the leader
 * change, at most four a second, and at least one every 15 s. While the database is unreachable, no snapshot is sent.
 */

export type QueueWatch = ReturnType<typeof createQueueWatch>

const gapMs = 250
const readAgainMs = 1_000
const silenceMsMax = 15_000
const poolsMax = 100

export function createQueueWatch(domain: Domain) {
  let open = 0
  const hubs = createPoolHubs<QueueCounts>({
    domain,
    name: 'queue watch',
    topics: ['feed', 'view'],
    gapMs,
    read: (pool, userIds) => readQueueCountsOfPool(domain, pool, userIds),
    isEqual,
  })
  return {
    /** Throws NotFound for an unknown pool. If `pool` is null, all pools are watched. */
    async watch(viewer: Viewer, pool: string | null): Promise<AsyncGenerator<QueueCounts, void, void>> {
      const pools = pool === null ? await readPoolNames(domain) : [pool]
      const firsts = await Promise.all(pools.map((each) => hubs.read(each, viewer.userId)))
      // The stream joins at its first read, so a stream that is closed before does not hold a hub.
      return stoppable(async function* (signal) {
        open += 1
        const joined = firsts.map((first) => ({ first, viewer, ...hubs.join(first.pool, viewer.userId) }))
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

async function* snapshots(
  clock: Clock,
  { hub, viewer, first }: { hub: PoolHub<QueueCounts>; viewer: Viewer; first: QueueCounts },
  signal: AbortSignal,
): AsyncGenerator<QueueCounts, void, void> {
  let sent = { read: first, shown: filterQueueCounts(viewer, first), at: clock.monotonicMs() }
  let revision: number | undefined
  yield sent.shown
  for (;;) {
    await clock.sleep(gapMs, signal)
    const silentMs = clock.monotonicMs() - sent.at
    // After 15 s without a message, the next read is sent even if it did not change.
    if (hub.latest?.revision === revision)
      await hub.bell.wait(silentMs < silenceMsMax ? silenceMsMax - silentMs : readAgainMs, signal)
    if (signal.aborted) return
    const { latest } = hub
    if (!latest || latest.state === sent.read) continue
    const shown = filterQueueCounts(viewer, latest.state)
    revision = latest.revision
    if (clock.monotonicMs() - sent.at < silenceMsMax && isEqual(shown, sent.shown)) continue
    sent = { read: latest.state, shown, at: clock.monotonicMs() }
    yield shown
  }
}

/** Pools are declared in the configuration, so their names do not change while a server runs. */
async function readPoolNames({ db }: Domain): Promise<string[]> {
  const pools = await db.prisma.pool.findMany({ select: { name: true }, orderBy: { name: 'asc' }, take: poolsMax })
  return pools.map(({ name }) => name)
}

/** Merges streams. A source is read again after its last item was taken. */
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

const isEqual = (one: QueueCounts, other: QueueCounts) =>
  isDeepStrictEqual({ ...one, at: null }, { ...other, at: null })
