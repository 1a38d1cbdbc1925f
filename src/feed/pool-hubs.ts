import type { Domain, Topic } from '../domain/domain.ts'
import { createBatcher } from '../platform/batch.ts'
import { createBell } from '../platform/bell.ts'
import { createLoop } from '../platform/loop.ts'
import { readIfAvailable } from '../platform/read-if-available.ts'

interface HubsOptions<State> {
  domain: Domain
  name: string
  topics: readonly Topic[]
  gapMs: number
  /** `userIds` are the users that watch the pool, `latest` is the result of the last read. */
  read(pool: string, userIds: readonly string[], latest: State | undefined): Promise<State>
  isEqual(one: State, other: State): boolean
}

export type PoolHub<State> = ReturnType<ReturnType<typeof createPoolHubs<State>>['join']>['hub']

const pollMs = 1_000
/** Maximum number of watchers that share one read. */
const arrivalsMax = 10_000

/**
 * Runs one poller for each pool that has watchers. It reads at most every `gapMs`, and at least once a second, and
 * stops with its last watcher, so the number of statements does not depend on the number of watchers.
 */
export function createPoolHubs<State>({ domain, name, topics, gapMs, read, isEqual }: HubsOptions<State>) {
  const { clock, log, wakeups } = domain
  const hubs = new Map<string, ReturnType<typeof createHub>>()

  function createHub(pool: string) {
    const watchers = new Set<{ userId: string }>()
    const bell = createBell(clock)
    const readShared = createBatcher<null, State>({
      max: arrivalsMax,
      mayBeOneItem: () => false,
      async run(arrivals) {
        const userIds = [...new Set([...watchers].map(({ userId }) => userId))]
        const state = await read(pool, userIds, hub.latest?.state)
        const hasChanged = !hub.latest || !isEqual(hub.latest.state, state)
        hub.latest = { state, revision: (hub.latest?.revision ?? 0) + Number(hasChanged) }
        if (hasChanged) bell.ring()
        return arrivals.map(() => state)
      },
    })
    const runOnce = async (signal: AbortSignal) => {
      await readIfAvailable(log, () => readShared(null))
      await clock.sleep(gapMs, signal)
    }
    const loop = createLoop({ name, pollMs: pollMs - gapMs, runOnce, clock, log })
    const listening = topics.map((topic) => wakeups.on(topic, loop.wake))
    const hub = {
      /** `revision` counts the changes; undefined: the state is not read yet. */
      latest: undefined as { state: State; revision: number } | undefined,
      /** Rings at each change of the state. */
      bell,
      watchers,
      read: () => readShared(null),
      start: loop.start,
      stop() {
        for (const unlisten of listening) unlisten()
        void loop.stop()
      },
    }
    return hub
  }

  function join(pool: string, userId: string) {
    const hub = hubs.get(pool) ?? createHub(pool)
    const watcher = { userId }
    hubs.set(pool, hub)
    hub.watchers.add(watcher)
    const leave = () => {
      hub.watchers.delete(watcher)
      if (hub.watchers.size > 0) return
      hubs.delete(pool)
      hub.stop()
    }
    return { hub, leave }
  }

  return {
    join,
    /** Reads a state, combined with other requests of the same turn. */
    async read(pool: string, userId: string): Promise<State> {
      const { hub, leave } = join(pool, userId)
      return hub.read().finally(leave)
    },
    count: () => hubs.size,
  }
}
