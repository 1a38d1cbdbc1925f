import { effectivePriority, nextRiseMs } from '../../domain/ageing.ts'
import { compareHeads } from './lane-window.ts'
import type { OrderingPolicy } from './policy.ts'

/** The higher priority first, raised by waiting (domain/ageing.ts); of equal ones the earlier submission. */
export function priority(thresholdMs: number): OrderingPolicy {
  return {
    groupOf: () => '',
    compare: (a, b) => b.effective - a.effective || compareHeads(a, b),
    age(window, nowMs) {
      const { lane, head } = window
      const ageing = {
        band: lane.priority,
        overridden: lane.overridden,
        open: head !== undefined,
        sinceMs: head?.sinceMs ?? 0,
      }
      window.effective = effectivePriority(ageing, { nowMs, thresholdMs })
      return nextRiseMs(ageing, { nowMs, thresholdMs })
    },
  }
}
