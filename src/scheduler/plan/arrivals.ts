import type { Lane } from '../../domain/lanes.ts'
import { computeChance } from './run-times.ts'

/** A job that began to wait in the past day. */
export interface Arrival {
  lane: Lane
  atMs: number
  /** null: the job has not ended. */
  runMs: number | null
}

/** Arrivals from `sinceMs` until now, oldest first. */
export interface PastArrivals {
  sinceMs: number
  arrivals: readonly Arrival[]
}

export interface LaterArrival {
  lane: Lane
  atMs: number
  runMs: number
}

/** Repeats past arrivals, from a time that differs between simulations. Jobs that have not ended run as long as others. */
export function* replayArrivals(
  { sinceMs, arrivals }: PastArrivals,
  { nowMs, play }: { nowMs: number; play: number },
): Generator<LaterArrival, undefined> {
  const ended = arrivals.flatMap(({ runMs }) => runMs ?? [])
  const windowMs = nowMs - sinceMs
  if (ended.length === 0 || windowMs <= 0) return
  const fromMs = sinceMs + computeChance('arrivals', play) * windowMs
  const first = arrivals.filter(({ atMs }) => atMs < fromMs).length
  for (let at = first; ; at++) {
    const { lane, atMs, runMs } = arrivals[at % arrivals.length] ?? {}
    if (!lane || atMs === undefined) return
    const rounds = Math.floor(at / arrivals.length)
    const otherMs = ended[Math.floor(computeChance(`arrival ${at}`, play) * ended.length)] ?? 0
    yield { lane, atMs: nowMs + atMs - fromMs + rounds * windowMs, runMs: runMs ?? otherMs }
  }
}
