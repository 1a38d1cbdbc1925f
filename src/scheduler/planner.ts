import type { Processed } from '../domain/queue/process-queue.ts'
import { memoryMs } from '../domain/scheduling.ts'
import type { Log } from '../platform/log.ts'
import type { Committed, Store } from './plan/leader-store.ts'
import type { Decisions, PoolSettings, Snapshot } from './plan/model.ts'
import { plan } from './plan/plan.ts'
import { createWorld, type World } from './plan/world.ts'

/**
 * The planner of one term: what it knows of its pool, updated by what it hears, and the passes over it. A pass consists
 * of rounds; each hears, plans and commits, until nothing is left to decide. After any failure the knowledge is dropped
 * and loaded again; nothing is repaired.
 */

export interface Planner {
  /** The present world; loaded if nothing is known. */
  hear(): Promise<World>
  /**
   * Decides until nothing is left or `roundsMax` rounds were made. Each round hears before it plans; with `isHeard` the
   * first one plans with what `hear` has just answered.
   */
  pass(roundsMax: number, isHeard?: boolean): Promise<Processed & { isDone: boolean }>
  /** Shows readers what changed; false: nothing did. */
  publish(): Promise<boolean>
  /** Some changes are not shown to readers yet. */
  readonly owes: boolean
  /** What is known now; null: nothing is. */
  copy(): Snapshot | null
  /** Milliseconds until time alone may change something; null: it will not. */
  waitMs(): number | null
  /** Drops the knowledge, because it may be wrong. */
  forget(): void
}

export const startsPerCommit = 50
/** A long silence is heard in parts. */
const hearingsMax = 1_000
/** Maximum conflicts of one pass: after more the tables contradict each other, and the loop logs it. */
const conflictsMax = 3
/** Maximum reads of lane windows for one decision. */
const refillsMax = 10_000

export function createPlanner(store: Store, { log, pool }: { log: Log; pool: string }): Planner {
  let world: World | null = null
  let nextDueMs: number | null = null
  let nextMs: number | null = null
  /** Changes were heard or decided, or jobs aged, since the last publication. */
  let changed = false

  /** Drops the knowledge after a failure. */
  async function trusting<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      world = null
      throw error
    }
  }

  /** What was forgotten of the past counts now. */
  function reload(): Promise<World> {
    world = null
    return hear()
  }

  async function hear(): Promise<World> {
    if (!world) changed = true
    const known = world ?? createWorld(await store.load())
    for (let i = 0; i < hearingsMax; i++) {
      const heard = await store.changes(known.state.lanes)
      const before = known.state.settings
      known.hear(heard)
      if (remembersLess(before, known.state.settings)) return reload()
      nextDueMs = heard.nextDueMs
      if (heard.changes.length > 0) changed = true
      if (!heard.more) break
    }
    world = known
    return known
  }

  async function decide(isHeard: boolean): Promise<Decided> {
    const now = (isHeard && world) || (await hear())
    const decisions = await planned(now, store)
    if (decisions.considered > 0 || (nextMs !== null && nextMs <= now.state.nowMs)) changed = true
    nextMs = decisions.nextMs
    // A due moment that changed nothing would stay due for ever: the poll comes back to it.
    if (decisions.considered === 0 && nextMs !== null && nextMs <= now.state.nowMs) nextMs = null
    if (isEmpty(decisions)) return { decisions, isDone: nextMs === null || nextMs > now.state.nowMs, committed: null }
    const committed = await store.commit(decisions, now.state.settings.revision)
    if (committed.kind === 'committed') now.ledger.lose(committed.lost, decisions)
    else if (committed.kind === 'stale') now.ledger.undo(decisions)
    else world = null
    return { decisions, isDone: false, committed }
  }

  async function pass(roundsMax: number, isHeard: boolean): Promise<Processed & { isDone: boolean }> {
    const done = { considered: 0, started: 0, preempted: 0 }
    let conflicts = 0
    for (let round = 0; round < roundsMax; round++) {
      const { decisions, isDone, committed } = await decide(isHeard && round === 0)
      done.considered += decisions.considered
      if (committed?.kind === 'conflict' && ++conflicts === conflictsMax)
        throw new Error(`Decisions of pool ${pool} met ${conflictsMax} conflicts in one pass`)
      if (committed?.kind === 'committed') {
        const lost = new Set(committed.lost)
        done.started += decisions.starts.filter(({ entry }) => !lost.has(entry.jobId)).length
        done.preempted += decisions.evictions
          .filter(({ claimant }) => !lost.has(claimant.jobId))
          .reduce((sum, { victims }) => sum + victims.length, 0)
      }
      if (isDone) return { ...done, isDone }
    }
    log.debug({ pool, ...done }, 'a pass goes on')
    return { ...done, isDone: false }
  }

  async function publish(): Promise<boolean> {
    if (!world || !changed) return false
    await store.publish(world.views())
    changed = false
    return true
  }

  return {
    hear: () => trusting(async () => refilled(await hear(), store)),
    pass: (roundsMax, isHeard = false) => trusting(() => pass(roundsMax, isHeard)),
    publish: () => trusting(publish),
    get owes() {
      return changed
    },
    copy: () => world?.state.copy ?? null,
    waitMs() {
      if (!world) return 0
      const moments = [nextDueMs, nextMs].filter((moment) => moment !== null)
      return moments.length === 0 ? null : Math.max(0, Math.min(...moments) - world.state.nowMs)
    },
    forget() {
      world = null
    },
  }
}

interface Decided {
  decisions: Decisions
  isDone: boolean
  committed: Committed | null
}

/** Changes may have emptied windows, and no round has read further entries since. */
async function refilled(world: World, store: Store): Promise<World> {
  const { needs } = world.state.order
  if (needs.length > 0) world.refill(await store.first(needs))
  return world
}

/** Plans one round; if a window of a lane is empty, reads further entries and plans again. */
async function planned(world: World, store: Store): Promise<Decisions> {
  for (let i = 0; i < refillsMax; i++) {
    const decisions = plan(world, { startsMax: startsPerCommit })
    if (decisions.needs.length === 0) return decisions
    world.refill(await store.first(decisions.needs))
    if (!isEmpty(decisions)) return decisions
  }
  throw new Error(`Lanes of pool ${world.state.settings.pool} are still empty after ${refillsMax} reads`)
}

const remembersLess = (before: PoolSettings, now: PoolSettings): boolean =>
  memoryMs(now) > memoryMs(before) || (now.shareHalfLifeMs !== null && now.shareHalfLifeMs !== before.shareHalfLifeMs)

const isEmpty = ({ starts, evictions, holds, refused }: Decisions): boolean =>
  starts.length + evictions.length + holds.put.length + holds.drop.length + refused.length === 0
