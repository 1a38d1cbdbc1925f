import type { Phase } from './phases.ts'

/** A phase, or the remaining time until the limit, with its position on the axis: 0 … 1. */
export interface Segment {
  phase: Phase | null
  fromMs: number
  toMs: number
  left: number
  width: number
}

/** Minimum width of a phase as a fraction of the axis, so that it can be seen and clicked. */
const shareMin = 0.05

interface ScaleOptions {
  nowMs: number
  /** When the run reaches its maximum run time; null: it has no limit, or does not run. */
  limitMs: number | null
}

/** Scales phases to the axis. Each is at least `shareMin` wide; the remaining time until the limit takes at most half. */
export function scalePhases(phases: readonly Phase[], { nowMs, limitMs }: ScaleOptions): readonly Segment[] {
  const past = phases.map((phase) => ({
    phase,
    fromMs: phase.fromMs,
    toMs: Math.max(phase.toMs ?? nowMs, phase.fromMs),
  }))
  const pastMs = past.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0)
  const endMs = past.at(-1)?.toMs ?? nowMs
  const rest = limitMs !== null && limitMs > endMs ? [{ phase: null, fromMs: endMs, toMs: limitMs }] : []
  const parts = [...past, ...rest]
  const weights = parts.map(({ phase, fromMs, toMs }) => (phase ? toMs - fromMs : Math.min(toMs - fromMs, pastMs)))
  const sum = Math.max(
    1,
    weights.reduce((all, each) => all + each, 0),
  )
  const least = Math.min(shareMin, 0.5 / Math.max(1, parts.length))
  let left = 0
  return parts.map((part, i) => {
    const width = least + ((weights[i] ?? 0) / sum) * (1 - least * parts.length)
    const segment = { ...part, left, width }
    left += width
    return segment
  })
}

/** Returns the position of a time on the axis; null: it is outside of the axis. */
export function placeOf(segments: readonly Segment[], ms: number): number | null {
  const segment = segments.find(({ fromMs, toMs }) => ms >= fromMs && ms <= toMs)
  if (!segment) return null
  const lengthMs = segment.toMs - segment.fromMs
  return segment.left + (lengthMs === 0 ? 0 : (ms - segment.fromMs) / lengthMs) * segment.width
}

export interface Mark {
  place: number
  atMs: number
  texts: readonly string[]
}

/** Merges marks that are closer than `distance`. */
export function mergeMarks(marks: readonly Mark[], distance: number): readonly Mark[] {
  const merged: Mark[] = []
  for (const mark of marks.toSorted((a, b) => a.place - b.place)) {
    const last = merged.at(-1)
    if (last && mark.place - last.place < distance)
      merged[merged.length - 1] = { ...last, texts: [...last.texts, ...mark.texts] }
    else merged.push(mark)
  }
  return merged
}
