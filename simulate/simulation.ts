import { Fenced } from '../src/domain/leadership.ts'
import { createLog } from '../src/platform/log.ts'
import { createPlanner, type Planner } from '../src/scheduler/planner.ts'
import type { Heard, Store } from '../src/scheduler/store.ts'
import type { Action, Actor } from './actions.ts'
import { choose, endings } from './choosing.ts'
import type { Random } from './random.ts'

/**
 * One seed: a pool, and what happens to it. The real planner and its loop lead; leaders die between any two steps and in
 * the middle of a commit, wake-ups are lost, people and executors act while a decision is under way. After every step the
 * invariants are asked, and more of them whenever the leader has come to rest.
 */
export interface Stage {
  actor: Actor
  /** A new leader, whose epoch ends that of all before. */
  lead(): Promise<Store> | Store
  /** The leader is not it any more, and does not know. */
  depose(): Promise<void> | void
  broken(): Promise<string[]> | string[]
  /** The leader knows everything, has nothing to do, and has shown it. */
  brokenAtRest(): Promise<string[]> | string[]
}

export interface Result {
  seed: number
  steps: number
  starts: number
  evictions: number
  rests: number
  /** What was broken, at which step, and what happened last before; null: nothing. */
  broken: { step: number; what: string[]; last: Happening[] } | null
}

/** LEADS: a new leader. DEPOSED: the leader loses its epoch during a commit. DEAF: a look of the leader finds no changes. */
export type Happening = Action | { kind: 'LEADS' | 'DEPOSED' | 'DEAF' }

export interface Frequencies {
  /** One of so many rests is looked at closely. */
  restsPerLook: number
  stepsPerLook: number
}

const passRoundsMax = 1_000
const lastMax = 12
/** Whether somebody acts while a decision is being committed. */
const meanwhile = 0.05
const dies = 0.03
const hears = 0.6
/** Of a leader that looks: it does not hear what was said last. */
const isDeaf = 0.1
const log = createLog('silent')
const silence: Heard = { nowMs: 0, changes: [], lanes: [], nextDueMs: null, more: false }

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

export const newResult = (seed: number): Result => ({
  seed,
  steps: 0,
  starts: 0,
  evictions: 0,
  rests: 0,
  broken: null,
})

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
    this.planner = createPlanner(this.restless(await this.stage.lead()), { log, pool: 'sim' })
  }

  /** Answers whether the leader knows everything and has nothing to do. */
  async pass(): Promise<boolean> {
    try {
      const done = await this.planner?.pass(passRoundsMax)
      if (!done) return false
      this.result.starts += done.started
      this.result.evictions += done.preempted
      const rests = done.isDone && !this.wasDeaf
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

  /** Nobody acts any more: those who were told to leave do, and whoever they left for starts. */
  async finish(): Promise<string[]> {
    this.calm = true
    const { actor } = this.stage
    for (let round = 0; round < passRoundsMax; round++) {
      if (!(await this.pass())) continue
      const ends = endings(await actor.see())
      if (ends.length === 0) break
      for (const end of ends) {
        this.note(end)
        await actor.act(end)
      }
    }
    return [...(await this.stage.broken()), ...(await this.lookAtRest())]
  }

  /** The store of a leader to whom things happen. */
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
