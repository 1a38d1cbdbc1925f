import { isKnown } from './expected-ends.ts'
import { budgetMs } from './preemption.ts'
import { nextWindowMs } from './reservations.ts'
import type { PoolState } from './state.ts'
import { ripeMs } from './victims.ts'

/** Next time at which a job may start without any change of data; null: never. */
export function lookAgainMs(state: PoolState): number | null {
  const moments = [nextWindowMs(state), state.machines.nextTryMs, ...plannedStarts(state), ...preemptions(state)]
  return soonest(moments.filter((moment) => moment !== null && moment > state.nowMs))
}

export function soonest(moments: readonly (number | null)[]): number | null {
  const known = moments.filter((moment) => moment !== null)
  return known.length > 0 ? Math.min(...known) : null
}

/** A planned start that is late is planned again. */
const plannedStarts = ({ order: { plans } }: PoolState): number[] =>
  [...plans.values()].flatMap(({ atMs }) => (isKnown(atMs) ? [atMs] : []))

function preemptions({ lanes, machines, preemptions: past, settings, nowMs }: PoolState): number[] {
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
      return [sinceMs + minRunBeforePreemptMs, ripeMs(running), wonTier === null ? 0 : sinceMs + quantum]
    })
  return [...after, soonest(ripe.filter((moment) => moment > nowMs && moment < Number.POSITIVE_INFINITY)) ?? 0]
}
