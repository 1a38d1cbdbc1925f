import type { Running, WorldView } from './model.ts'

/**
 * When runs are expected to end: at their maximum run time. A run that exceeds it is expected to end at
 * the next of `overrunMs`, twice and four times that, …, so two leaders agree. The end of a run without a maximum is
 * unknown. Such runs come last, the oldest first: their "ends" are numbers from `unknownMs` on.
 */

export const atOnceMs = 0
const unknownMs = 1e15
const overrunMs = 30_000

export const isKnown = (endMs: number): boolean => endMs < unknownMs

/** `owner`: the job for which the runs that were backfilled on its planned nodes end at once. */
export function computeExpectedEndMs({ nowMs }: Pick<WorldView, 'nowMs'>, running: Running, owner: string): number {
  const { leaving, backfilledOn, lane, startedMs, sinceMs } = running
  if (leaving || backfilledOn === owner) return atOnceMs
  if (lane.runSeconds === null) return unknownMs + sinceMs
  const limitMs = (startedMs ?? sinceMs) + lane.runSeconds * 1_000
  let endMs = limitMs
  for (let overMs = overrunMs; endMs <= nowMs; overMs *= 2) endMs = limitMs + overMs
  return endMs
}
