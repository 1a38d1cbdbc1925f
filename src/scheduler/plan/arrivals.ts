import type { Lane } from '../../domain/lanes.ts'
import { chance } from './run-times.ts'

/** A job that began to wait in the past day. */
export interface Arrival {
  lane: Lane
  atMs: number
  /** null: the job has not ended. */
  runMs: number | null
}

/** Arrivals from `sinceMs` until now, the first one first. */
export interface PastArrivals {
  sinceMs: number
  arrivals: readonly Arrival[]
}

export interface LaterArrival {
  lane: Lane
  atMs: number
  runMs: number
}

/** Repeats the past from a moment that differs between simulations. Jobs that have not ended run as long as others. */
export function* arriveAgain(
  { sinceMs, arrivals }: PastArrivals,
  { nowMs, play }: { nowMs: number; play: number },
): Generator<LaterArrival, undefined> {
  const ended = arrivals.flatMap(({ runMs }) => runMs ?? [])
  const windowMs = nowMs - sinceMs
  if (ended.length === 0 || windowMs <= 0) return
  const fromMs = sinceMs + chance('arrivals', play) * windowMs
  const first = arrivals.filter(({ atMs }) => atMs < fromMs).length
  for (let at = first; ; at++) {
    const { lane, atMs, runMs } = arrivals[at % arrivals.length] ?? {}
    if (!lane || atMs === undefined) return
    const rounds = Math.floor(at / arrivals.length)
    const otherMs = ended[Math.floor(chance(`arrival ${at}`, play) * ended.length)] ?? 0
    yield { lane, atMs: nowMs + atMs - fromMs + rounds * windowMs, runMs: runMs ?? otherMs }
  }
}
