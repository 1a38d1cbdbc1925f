import type { Lane } from '../../domain/lanes.ts'
import { atOnceMs, isKnown } from './expected-ends.ts'
import type { PlannedStart, WorldView } from './model.ts'

/** true: runs of the lane can be evicted when a job needs its planned nodes. */
export const mayBeEvicted = ({ preemptable, interactive }: Lane): boolean => preemptable && !interactive

/**
 * true: a job of the lane may use what the planned start of another job keeps, because it ends in time or can be
 * evicted. `evicts`: it would evict runs first.
 */
export function mayBackfill(
  world: WorldView,
  lane: Lane,
  { plan, evicts }: { plan: PlannedStart; evicts: boolean },
): boolean {
  if (mayBeEvicted(lane)) return !isDue(plan)
  // Victims may end late, so the job might not end in time.
  if (evicts || lane.runSeconds === null || !isKnown(plan.atMs)) return false
  return world.nowMs + lane.runSeconds * 1_000 <= plan.atMs
}

/**
 * true: only evicted and backfilled runs still use the planned resources, so the owner gets them next. From then on no
 * job is backfilled or evicted there: otherwise one claim could follow another forever.
 */
const isDue = ({ atMs }: PlannedStart): boolean => atMs === atOnceMs
