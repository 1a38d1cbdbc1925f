import { isKnown } from './expected-ends.ts'
import { budgetMs } from './preemption.ts'
import { findNextWindowMs } from './reservations.ts'
import type { PoolState } from './state.ts'
import { computeRipeMs } from './victims.ts'

/** The next time at which a job may start although no data changes; null: never. */
export function findNextChangeMs(state: PoolState): number | null {
  const moments = [
    findNextWindowMs(state),
    state.machines.nextTryMs,
    ...listPlannedStartTimes(state),
    ...listPreemptionTimes(state),
  ]
  return findSoonest(moments.filter((moment) => moment !== null && moment > state.nowMs))
}

export function findSoonest(moments: readonly (number | null)[]): number | null {
  const known = moments.filter((moment) => moment !== null)
  return known.length > 0 ? Math.min(...known) : null
}

/** Times of planned starts: a start that is late is planned again. */
const listPlannedStartTimes = ({ order: { plans } }: PoolState): number[] =>
  [...plans.values()].flatMap(({ atMs }) => (isKnown(atMs) ? [atMs] : []))

function listPreemptionTimes({ lanes, machines, preemptions: past, settings, nowMs }: PoolState): number[] {
  if (lanes.size === 0 || machines.preemptable === 0) return []
  const { rotationQuantumMs, minRunBeforePreemptMs, maxPreemptionsPerMinute } = settings
  const quantum = Math.max(0, rotationQuantumMs)
  const after = past.flatMap(({ atMs }) => [
    ...(quantum > 0 ? [atMs + quantum] : []),
    ...(maxPreemptionsPerMinute === null ? [] : [atMs + budgetMs]),
  ])
  if (minRunBeforePreemptMs === 0 && machines.won === 0 && machines.hurt === 0) return after
  const ripe = [...machines.running.values()]
    .filter(({ lane }) => lane.preemptable || lane.restartable)
    .flatMap((running) => {
      const { sinceMs, wonTier } = running
      return [sinceMs + minRunBeforePreemptMs, computeRipeMs(running), wonTier === null ? 0 : sinceMs + quantum]
    })
  return [...after, findSoonest(ripe.filter((moment) => moment > nowMs && moment < Number.POSITIVE_INFINITY)) ?? 0]
}
