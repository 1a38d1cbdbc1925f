import { Fenced } from '../src/domain/leadership.ts'
import { createLog } from '../src/platform/log.ts'
import { searchPauseMs } from '../src/scheduler/plan/eviction-searches.ts'
import type { ReceivedChanges, Store } from '../src/scheduler/plan/leader-store.ts'
import { planPass } from '../src/scheduler/plan/plan.ts'
import type { World } from '../src/scheduler/plan/world.ts'
import { Planner } from '../src/scheduler/planner.ts'
import type { Action, Actor } from './actions.ts'
import { choose, listEndings } from './choosing.ts'
import type { Random } from './random.ts'

/**
 * One seed: a pool and its actions. The real planner and its loop lead. Leaders die between any two steps and in the
 * middle of a commit, wake-ups are lost, people and executors act during a decision. The invariants are checked after
 * every step, and more of them when the leader has come to rest.
 */
export interface Stage {
  actor: Actor
  /** Creates the store of a new leader, which ends all earlier epochs. */
  lead(): Promise<Store> | Store
  /** The leader loses its epoch without being notified. */
  depose(): Promise<void> | void
  broken(): Promise<string[]> | string[]
  /** Lists violated invariants of an idle state: the leader has read all changes, decided and published everything. */
  brokenAtRest(): Promise<string[]> | string[]
}

export interface Result {
  seed: number
  steps: number
  starts: number
  evictions: number
  rests: number
  /** The violated invariants, their step, and the last happenings before it; null: all invariants hold. */
  broken: { step: number; what: string[]; last: Happening[] } | null
}

/**
 * LEADS: a new leader. DEPOSED: the leader loses its epoch during a commit. DEAF: the leader reads no changes in one
 * look.
 */
export type Happening = Action | { kind: 'LEADS' | 'DEPOSED' | 'DEAF' }

export interface Frequencies {
  /** One of this many idle states is compared with a new leader. */
  restsPerLook: number
  stepsPerLook: number
}

const passRoundsMax = 1_000
const lastMax = 12
/** Probability of an action during a commit. */
const meanwhile = 0.05
const dies = 0.03
const hears = 0.6
/** Probability that a read returns no changes. */
const isDeaf = 0.1
const log = createLog('silent')
const silence: ReceivedChanges = { nowMs: 0, changes: [], lanes: [], nextDueMs: null, more: false }

export async function simulate(
  stage: Stage,
  { random, result, steps }: { random: Random; result: Result; steps: number },
  { restsPerLook, stepsPerLook }: Frequencies,
): Promise<Result> {
  const playing = new Playing(stage, random, result)
  await playing.lead()
  for (let at = 1; at <= steps && !result.broken; at++) {
    await playing.step()
    if (random.chance(dies)) await playing.lead()
    const rests = random.chance(hears) && (await playing.pass())
    const looks = rests && result.rests % restsPerLook === 0
    const what = [
      ...(at % stepsPerLook === 0 ? await stage.broken() : []),
      ...(looks ? await playing.lookAtRest() : []),
    ]
    result.steps = at
    if (what.length > 0) result.broken = { step: at, what, last: playing.last }
  }
  if (!result.broken) {
    const what = await playing.finish()
    if (what.length > 0) result.broken = { step: steps, what, last: playing.last }
  }
  return result
}

export const createResult = (seed: number): Result => ({
  seed,
  steps: 0,
  starts: 0,
  evictions: 0,
  rests: 0,
  broken: null,
})

/** Lists starts and evictions that a new leader would make although this leader is idle. */
export function listUndoneDecisions(fresh: World): string[] {
  const { starts, evictions } = planPass(fresh, { startsMax: 1 })
  return [
    ...starts.map(({ entry }) => `${entry.jobId} could start, and the leader rests`),
    ...evictions.map(({ claimant }) => `${claimant.jobId} could make room, and the leader rests`),
  ]
}

class Playing {
  private readonly stage: Stage
  private readonly random: Random
  private readonly result: Result
  private planner: Planner | null = null
  private calm = false
  private wasDeaf = false
  last: Happening[] = []

  constructor(stage: Stage, random: Random, result: Result) {
    this.stage = stage
    this.random = random
    this.result = result
  }

  async step(): Promise<void> {
    const { actor } = this.stage
    const action = choose(await actor.see(), this.random)
    if (action.kind !== 'NOTHING') this.note(action)
    await actor.act(action)
  }

  private note(happening: Happening): void {
    this.last.push(happening)
    if (this.last.length > lastMax) this.last.shift()
  }

  async lead(): Promise<void> {
    this.note({ kind: 'LEADS' })
    this.planner = new Planner(this.restless(await this.stage.lead()), { log, pool: 'sim' })
  }

  /** Makes passes. Returns whether the leader has read all changes and is idle. */
  async pass(): Promise<boolean> {
    try {
      const done = await this.planner?.pass(passRoundsMax)
      if (!done) return false
      this.result.starts += done.started
      this.result.evictions += done.preempted
      const goesOn = (this.planner?.waitMs() ?? Number.POSITIVE_INFINITY) <= searchPauseMs
      const rests = done.isDone && !goesOn && !this.wasDeaf
      this.result.rests += Number(rests)
      return rests
    } catch (error) {
      if (!(error instanceof Fenced)) throw error
      await this.lead()
      return false
    }
  }

  async lookAtRest(): Promise<string[]> {
    await this.planner?.publish()
    return this.stage.brokenAtRest()
  }

  /** Ends preempted runs until their claimants have started, without other actions. Returns violated invariants. */
  async finish(): Promise<string[]> {
    this.calm = true
    const { actor } = this.stage
    for (let round = 0; round < passRoundsMax; round++) {
      if (!(await this.pass())) {
        await actor.act({ kind: 'TIME', ms: searchPauseMs })
        continue
      }
      const ends = listEndings(await actor.see())
      if (ends.length === 0) break
      for (const end of ends) {
        this.note(end)
        await actor.act(end)
      }
    }
    return [...(await this.stage.broken()), ...(await this.lookAtRest())]
  }

  /** Wraps the store of a leader, and adds actions and failures between its calls. */
  private restless(store: Store): Store {
    return {
      ...store,
      changes: async (lanes) => {
        this.wasDeaf = !this.calm && this.random.chance(isDeaf)
        if (this.wasDeaf) this.note({ kind: 'DEAF' })
        return this.wasDeaf ? silence : store.changes(lanes)
      },
      commit: async (decisions, revision) => {
        if (!this.calm && this.random.chance(meanwhile)) await this.step()
        if (!this.calm && this.random.chance(dies)) {
          this.note({ kind: 'DEPOSED' })
          await this.stage.depose()
        }
        return store.commit(decisions, revision)
      },
    }
  }
}
