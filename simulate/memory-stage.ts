import { createWorld } from '../src/scheduler/plan/world.ts'
import { claimedForNothing } from './breaches.ts'
import { idle, invariants, reservedUnused, roomUnused, viewsOff } from './invariants.ts'
import type { Memory } from './memory.ts'
import { MemoryActor, newMemory } from './memory-actor.ts'
import { memoryStore } from './memory-store.ts'
import { randomPlan } from './plans.ts'
import { Random } from './random.ts'
import { newResult, type Result, type Stage, simulate, undoneIn } from './simulation.ts'

/** A seed over tables in memory. */
const restsPerLook = 12

export function simulateInMemory(seed: number, steps: number): Promise<Result> {
  const random = new Random(seed)
  return simulate(memoryStage(random), { random, result: newResult(seed), steps }, { restsPerLook, stepsPerLook: 1 })
}

export function memoryStage(random: Random): Stage & { memory: Memory } {
  const pool = randomPlan(random)
  const memory = newMemory(pool)
  return {
    memory,
    actor: new MemoryActor(memory, pool),
    lead() {
      memory.epoch += 1
      return memoryStore(memory, memory.epoch)
    },
    depose() {
      memory.epoch += 1
    },
    broken: () => invariants(memory, pool),
    brokenAtRest: () =>
      memory.told.length > 0
        ? []
        : [undone, roomUnused, reservedUnused, idle, claimedForNothing, viewsOff].flatMap((rule) => rule(memory)),
  }
}

/**
 * Starts that a new leader would make where this one rests. With a half-life its shares are a little different, since it
 * knows the ends of runs to the millisecond, and so may be its order.
 */
function undone(memory: Memory): string[] {
  if (memory.settings.policy === 'FAIR_SHARE' && memory.settings.shareHalfLifeMs !== null) return []
  return undoneIn(createWorld(memory.snapshot()))
}
