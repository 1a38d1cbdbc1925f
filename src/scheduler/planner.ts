import type { Processed } from '../domain/queue/plan-pools.ts'
import { preemptionMemoryMs } from '../domain/scheduling.ts'
import type { Log } from '../platform/log.ts'
import type { Committed, Store } from './plan/leader-store.ts'
import type { Decisions, PoolSettings, Snapshot } from './plan/model.ts'
import { planPass } from './plan/plan.ts'
import { createWorld, type World } from './plan/world.ts'
import { jobWaits, preemptions } from './run-metrics.ts'

/**
 * The planner of one term: keeps the world of its pool, updates it from changes, and makes passes over it. After any
 * failure the world is dropped, and the next call loads it again.
 */

export const startsPerCommit = 50
const readsMax = 1_000
/** After this number of conflicts in one pass, the pass fails, because the tables contradict each other. */
const conflictsMax = 3
const refillsMax = 10_000

export class Planner {
  readonly #store: Store
  readonly #log: Log
  readonly #pool: string
  #world: World | null = null
  #nextDueMs: number | null = null
  #nextMs: number | null = null
  /** true: changes, decisions or raised priorities are not published yet. */
  hasUnpublished = false

  constructor(store: Store, { log, pool }: { log: Log; pool: string }) {
    this.#store = store
    this.#log = log
    this.#pool = pool
  }

  hear(): Promise<World> {
    return this.#dropOnError(async () => refillWindows(await this.#readChanges(), this.#store))
  }

  /**
   * Makes rounds until no decision is left or `roundsMax` is reached. Each round reads changes first; with `isHeard`,
   * the first round uses the changes that the last `hear` read.
   */
  pass(roundsMax: number, isHeard = false): Promise<Processed & { isDone: boolean }> {
    return this.#dropOnError(() => this.#runRounds(roundsMax, isHeard))
  }

  publish(): Promise<boolean> {
    return this.#dropOnError(async () => {
      if (!this.#world || !this.hasUnpublished) return false
      await this.#store.publish(this.#world.views())
      this.hasUnpublished = false
      return true
    })
  }

  copy(): Snapshot | null {
    return this.#world?.state.copy ?? null
  }

  /** Milliseconds until a decision may change although no data changes; null: never. */
  waitMs(): number | null {
    if (!this.#world) return 0
    const moments = [this.#nextDueMs, this.#nextMs].filter((moment) => moment !== null)
    return moments.length === 0 ? null : Math.max(0, Math.min(...moments) - this.#world.state.nowMs)
  }

  /** Drops the world, which may be wrong. The next call loads it again. */
  forget(): void {
    this.#world = null
  }

  async #dropOnError<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      this.forget()
      throw error
    }
  }

  async #readChanges(): Promise<World> {
    if (!this.#world) this.hasUnpublished = true
    const world = this.#world ?? createWorld(await this.#store.load())
    for (let i = 0; i < readsMax; i++) {
      const heard = await this.#store.changes(world.state.lanes)
      const before = world.state.settings
      world.hear(heard)
      // The new settings use more history than this world has, so it is loaded again.
      if (hasShorterHistory(before, world.state.settings)) {
        this.forget()
        return this.#readChanges()
      }
      this.#nextDueMs = heard.nextDueMs
      if (heard.changes.length > 0) this.hasUnpublished = true
      if (!heard.more) break
    }
    this.#world = world
    return world
  }

  async #runRounds(roundsMax: number, isHeard: boolean): Promise<Processed & { isDone: boolean }> {
    const done = { considered: 0, started: 0, preempted: 0 }
    let conflicts = 0
    for (let round = 0; round < roundsMax; round++) {
      const { decisions, isDone, committed } = await this.#decide(isHeard && round === 0)
      done.considered += decisions.considered
      if (committed?.kind === 'conflict' && ++conflicts === conflictsMax)
        throw new Error(
          `Decisions of pool ${this.#pool} conflicted with the database ${conflictsMax} times in one pass`,
        )
      if (committed?.kind === 'committed') {
        const lost = new Set(committed.lost)
        done.started += decisions.starts.filter(({ entry }) => !lost.has(entry.jobId)).length
        const preempted = decisions.evictions
          .filter(({ claimant }) => !lost.has(claimant.jobId))
          .reduce((sum, { victims }) => sum + victims.length, 0)
        done.preempted += preempted
        preemptions.inc({ pool: this.#pool }, preempted)
        for (const { entry } of decisions.starts) {
          const startedMs = committed.sinceMs.get(entry.jobId)
          if (startedMs !== undefined)
            jobWaits.observe({ pool: this.#pool }, Math.max(0, startedMs - entry.sinceMs) / 1_000)
        }
      }
      if (isDone) return { ...done, isDone }
    }
    this.#log.debug({ pool: this.#pool, ...done }, 'a pass continues in the next tick')
    return { ...done, isDone: false }
  }

  async #decide(isHeard: boolean): Promise<Decided> {
    const world = (isHeard && this.#world) || (await this.#readChanges())
    const { nowMs, settings } = world.state
    const decisions = await planRound(world, this.#store)
    if (decisions.considered > 0 || isDue(this.#nextMs, nowMs)) this.hasUnpublished = true
    // If nothing was due at that time, waiting for the same time again would loop; the poll checks instead.
    this.#nextMs = decisions.considered === 0 && isDue(decisions.nextMs, nowMs) ? null : decisions.nextMs
    if (isEmpty(decisions)) return { decisions, isDone: !isDue(this.#nextMs, nowMs), committed: null }
    const committed = await this.#store.commit(decisions, settings.revision)
    if (committed.kind === 'committed') {
      world.ledger.lose(committed.lost, decisions)
      world.ledger.confirm(committed.sinceMs, decisions)
    } else if (committed.kind === 'stale') world.ledger.undo(decisions)
    else this.forget()
    return { decisions, isDone: false, committed }
  }
}

interface Decided {
  decisions: Decisions
  isDone: boolean
  committed: Committed | null
}

async function refillWindows(world: World, store: Store): Promise<World> {
  const { needs } = world.state.order
  if (needs.length > 0) world.refill(await store.first(needs))
  return world
}

/** Plans a round. If a lane runs out of entries, reads more and plans again. */
async function planRound(world: World, store: Store): Promise<Decisions> {
  for (let i = 0; i < refillsMax; i++) {
    const decisions = planPass(world, { startsMax: startsPerCommit })
    if (decisions.needs.length === 0) return decisions
    world.refill(await store.first(decisions.needs))
    if (!isEmpty(decisions)) return decisions
  }
  throw new Error(`Lanes of pool ${world.state.settings.pool} are still empty after ${refillsMax} reads`)
}

const hasShorterHistory = (before: PoolSettings, now: PoolSettings): boolean =>
  preemptionMemoryMs(now) > preemptionMemoryMs(before) ||
  (now.shareHalfLifeMs !== null && now.shareHalfLifeMs !== before.shareHalfLifeMs)

const isDue = (momentMs: number | null, nowMs: number): boolean => momentMs !== null && momentMs <= nowMs

const isEmpty = ({ starts, evictions, dropped, refused }: Decisions): boolean =>
  starts.length + evictions.length + dropped.length + refused.length === 0
