import { createWorld } from '../src/scheduler/plan/world.ts'
import { listFutileClaims } from './breaches.ts'
import { listBroken, listIdleJobs, listUnusedHolds, listUnusedReservations, listViewErrors } from './invariants.ts'
import type { Memory } from './memory.ts'
import { createMemory, MemoryActor } from './memory-actor.ts'
import { createMemoryStore } from './memory-store.ts'
import { randomPlan } from './plans.ts'
import { Random } from './random.ts'
import { createResult, listUndoneDecisions, type Result, type Stage, simulate } from './simulation.ts'

/** One of this many idle states is compared with a new leader. */
const restsPerLook = 12

export function simulateInMemory(seed: number, steps: number): Promise<Result> {
  const random = new Random(seed)
  return simulate(
    createMemoryStage(random),
    { random, result: createResult(seed), steps },
    { restsPerLook, stepsPerLook: 1 },
  )
}

export function createMemoryStage(random: Random): Stage & { memory: Memory } {
  const pool = randomPlan(random)
  const memory = createMemory(pool)
  return {
    memory,
    actor: new MemoryActor(memory, pool),
    lead() {
      memory.epoch += 1
      return createMemoryStore(memory, memory.epoch)
    },
    depose() {
      memory.epoch += 1
    },
    broken: () => listBroken(memory, pool),
    brokenAtRest: () =>
      memory.told.length > 0
        ? []
        : [listUndone, listUnusedHolds, listUnusedReservations, listIdleJobs, listFutileClaims, listViewErrors].flatMap(
            (rule) => rule(memory),
          ),
  }
}

/**
 * Lists starts that a new leader would make although this leader is idle. With a half-life its shares differ a little,
 * since it knows the ends of runs to the millisecond, and so may be its order.
 */
function listUndone(memory: Memory): string[] {
  if (memory.settings.policy === 'FAIR_SHARE' && memory.settings.shareHalfLifeMs !== null) return []
  return listUndoneDecisions(createWorld(memory.snapshot()))
}
