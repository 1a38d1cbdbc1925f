import type { Domain, Topic } from '../domain/domain.ts'
import { createBatcher } from '../platform/batch.ts'
import { createBell } from '../platform/bell.ts'
import { createLoop } from '../platform/loop.ts'
import { readIfAvailable } from '../platform/read-if-available.ts'

/**
 * The watchers of a pool share a hub, which reads at most every `gapMs`, and once a second without a wake-up, until the
 * last of them leaves. So the number of statements does not depend on the number of watchers.
 */
interface HubsOptions<State> {
  domain: Domain
  name: string
  topics: readonly Topic[]
  gapMs: number
  /** `userIds`: the watchers; `latest`: what was read last. */
  read(pool: string, userIds: readonly string[], latest: State | undefined): Promise<State>
  isSame(one: State, other: State): boolean
}

export type PoolHub<State> = ReturnType<ReturnType<typeof createPoolHubs<State>>['join']>['hub']

const pollMs = 1_000
/** Watchers of one pool, which share each read. */
const arrivalsMax = 10_000

export function createPoolHubs<State>({ domain, name, topics, gapMs, read, isSame }: HubsOptions<State>) {
  const { clock, log, wakeups } = domain
  const hubs = new Map<string, ReturnType<typeof createHub>>()

  function createHub(pool: string) {
    const watchers = new Set<{ userId: string }>()
    const bell = createBell(clock)
    const share = createBatcher<null, State>({
      max: arrivalsMax,
      mayBeOneItem: () => false,
      async run(arrivals) {
        const userIds = [...new Set([...watchers].map(({ userId }) => userId))]
        const state = await read(pool, userIds, hub.latest?.state)
        const hasChanged = !hub.latest || !isSame(hub.latest.state, state)
        hub.latest = { state, change: (hub.latest?.change ?? 0) + Number(hasChanged) }
        if (hasChanged) bell.ring()
        return arrivals.map(() => state)
      },
    })
    const runOnce = async (signal: AbortSignal) => {
      await readIfAvailable(log, () => share(null))
      await clock.sleep(gapMs, signal)
    }
    const loop = createLoop({ name, pollMs: pollMs - gapMs, runOnce, clock, log })
    const listening = topics.map((topic) => wakeups.on(topic, loop.wake))
    const hub = {
      /** `change` counts the changes; undefined: nothing is read yet. */
      latest: undefined as { state: State; change: number } | undefined,
      /** Rings at each change. */
      bell,
      watchers,
      read: () => share(null),
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
    /** One state, read together with those that others ask for. */
    async read(pool: string, userId: string): Promise<State> {
      const { hub, leave } = join(pool, userId)
      return hub.read().finally(leave)
    },
    count: () => hubs.size,
  }
}
