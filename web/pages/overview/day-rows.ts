import type { DayJobFragment } from '../../generated/graphql.ts'

export type DayJob = DayJobFragment
export type RowsBy = 'pool' | 'user'

export interface DayBar {
  job: DayJob
  fromMs: number
  toMs: number
}

/** The jobs of a pool or a user, in several lanes so that bars do not overlap. */
export interface DayRow {
  key: string
  lanes: readonly (readonly DayBar[])[]
  /** Number of jobs for which no lane is free. */
  hidden: number
}

export const dayMs = 86_400_000
export const dayRowsMax = 12
const lanesMax = 10
/** Minimum width of a bar, so that short jobs can be seen and pointed at. */
const barMsMin = dayMs / 250

/** Groups jobs into rows, the row with the most jobs first. */
export function listDayRows(jobs: readonly DayJob[], { by, nowMs }: { by: RowsBy; nowMs: number }): DayRow[] {
  const bars = jobs.flatMap((job) => makeBar(job, nowMs)).toSorted((a, b) => a.fromMs - b.fromMs)
  const rows = Map.groupBy(bars, ({ job }) => job[by].name)
  return [...rows]
    .toSorted(([a, as], [b, bs]) => bs.length - as.length || (a < b ? -1 : 1))
    .map(([key, each]) => ({ key, ...packLanes(each) }))
}

/** Makes the bar of a job. A job that ended without a start is drawn at its end. */
function makeBar(job: DayJob, nowMs: number): DayBar[] {
  const start = job.startedAt ?? job.finishedAt
  if (start === null) return []
  const toMs = job.finishedAt === null ? nowMs : Date.parse(job.finishedAt)
  const fromMs = Math.max(Date.parse(start), nowMs - dayMs)
  return toMs < nowMs - dayMs ? [] : [{ job, fromMs, toMs }]
}

/** Distributes bars to lanes. `bars` must be sorted by their starts. */
function packLanes(bars: readonly DayBar[]): Pick<DayRow, 'lanes' | 'hidden'> {
  const lanes: DayBar[][] = []
  const ends: number[] = []
  let hidden = 0
  for (const bar of bars) {
    const free = ends.findIndex((end) => end <= bar.fromMs)
    const lane = free >= 0 ? free : lanes.length
    if (lane === lanesMax) hidden++
    else {
      lanes[lane] = [...(lanes[lane] ?? []), bar]
      ends[lane] = Math.max(bar.toMs, bar.fromMs + barMsMin)
    }
  }
  return { lanes, hidden }
}

const hoursPerMark = 3
export const markMs = hoursPerMark * 3_600_000
/** Minimum distance of the last mark from now, for its text. */
const roomMs = 3_600_000

/** Lists the full hours, in the local time zone, that get a mark. */
export function listHours(nowMs: number): number[] {
  const first = new Date(nowMs - dayMs)
  first.setMinutes(0, 0, 0)
  first.setHours(Math.ceil((first.getHours() + 1) / hoursPerMark) * hoursPerMark)
  const marks: number[] = []
  for (let ms = first.getTime(); ms < nowMs - roomMs; ms += markMs) marks.push(ms)
  return marks
}
