import type { Work } from './workload.ts'

/**
 * EASY and conservative backfill, as textbooks describe them, on nodes with GPUs. Both know the limit of each job and
 * not its run time. Jobs wait in the order of their arrival.
 */

type Free = number[]

export interface Contender {
  arrive(works: readonly Work[], nowMs: number): void
  end(works: readonly Work[], nowMs: number): void
  start(nowMs: number): Work[]
}

/** Finds the nodes with the fewest sufficient free GPUs; null: there are too few nodes. */
function findNodes(free: Free, { copies, gpus }: Work): number[] | null {
  const fitting = [...free.keys()].filter((node) => (free[node] ?? 0) >= gpus)
  if (fitting.length < copies) return null
  return fitting.sort((a, b) => (free[a] ?? 0) - (free[b] ?? 0)).slice(0, copies)
}

const take = (free: Free, nodes: readonly number[], gpus: number): void => {
  for (const node of nodes) free[node] = (free[node] ?? 0) - gpus
}

interface Placed {
  work: Work
  nodes: readonly number[]
  endsMs: number
}

abstract class Textbook implements Contender {
  protected readonly free: Free
  protected readonly running = new Map<Work, Placed>()
  protected waiting: Work[] = []

  constructor(nodes: number, gpusPerNode: number) {
    this.free = Array.from({ length: nodes }, () => gpusPerNode)
  }

  arrive(works: readonly Work[]): void {
    this.waiting.push(...works)
  }

  end(works: readonly Work[]): void {
    for (const work of works) {
      take(this.free, this.running.get(work)?.nodes ?? [], -work.gpus)
      this.running.delete(work)
    }
  }

  start(nowMs: number): Work[] {
    const started = this.choose(nowMs)
    this.waiting = this.waiting.filter((work) => !this.running.has(work))
    return started
  }

  protected abstract choose(nowMs: number): Work[]

  protected begin(work: Work, nodes: readonly number[], nowMs: number): Work {
    take(this.free, nodes, work.gpus)
    this.running.set(work, { work, nodes, endsMs: nowMs + work.limitMs })
    return work
  }

  /** Running jobs, the first to end first. */
  protected get ends(): Placed[] {
    return [...this.running.values()].sort((a, b) => a.endsMs - b.endsMs)
  }
}

/** The first job that does not fit has a planned start; other jobs start if they do not delay this job. */
export class Easy extends Textbook {
  protected choose(nowMs: number): Work[] {
    const started: Work[] = []
    const queue = [...this.waiting]
    for (let head = queue[0]; head; head = queue[0]) {
      const nodes = findNodes(this.free, head)
      if (!nodes) break
      started.push(this.begin(head, nodes, nowMs))
      queue.shift()
    }
    const head = queue.shift()
    const plan = head && this.plan(head)
    for (const work of plan ? queue : []) {
      const nodes = plan && this.placeBeside(work, plan, nowMs)
      if (nodes) started.push(this.begin(work, nodes, nowMs))
    }
    return started
  }

  /** Computes when the job starts if all runs reach their limits, and which GPUs it leaves free then. */
  private plan(head: Work): { startsMs: number; spare: Free } | null {
    const spare = [...this.free]
    for (const { work, nodes, endsMs } of this.ends) {
      take(spare, nodes, -work.gpus)
      const planned = findNodes(spare, head)
      if (!planned) continue
      take(spare, planned, head.gpus)
      return { startsMs: endsMs, spare }
    }
    return null
  }

  private placeBeside(
    work: Work,
    { startsMs, spare }: { startsMs: number; spare: Free },
    nowMs: number,
  ): readonly number[] | null {
    if (nowMs + work.limitMs <= startsMs) return findNodes(this.free, work)
    const both = this.free.map((free, node) => Math.min(free, spare[node] ?? 0))
    const nodes = findNodes(both, work)
    if (nodes) take(spare, nodes, work.gpus)
    return nodes
  }
}

/** Maximum number of planned starts; other jobs wait for one. */
const plannedMax = 40

/** Every job has a planned start, and no job delays a job before it. */
export class Conservative extends Textbook {
  protected choose(nowMs: number): Work[] {
    const timeline = [{ atMs: nowMs, free: [...this.free] }]
    for (const { work, nodes, endsMs } of this.ends) {
      const free = [...(timeline.at(-1)?.free ?? [])]
      take(free, nodes, -work.gpus)
      timeline.push({ atMs: endsMs, free })
    }
    const started: Work[] = []
    for (const work of this.waiting.slice(0, plannedMax)) {
      const planned = reserve(timeline, work)
      if (planned?.startsMs === nowMs) started.push(this.begin(work, planned.nodes, nowMs))
    }
    return started
  }
}

interface Moment {
  atMs: number
  free: Free
}

/** Reserves nodes for the job at the earliest time at which it fits. */
function reserve(timeline: Moment[], work: Work): { startsMs: number; nodes: readonly number[] } | null {
  for (const [at, { atMs: startsMs }] of timeline.entries()) {
    const endsMs = startsMs + work.limitMs
    const least = [...(timeline[at]?.free ?? [])]
    for (const { free } of timeline.slice(at + 1).filter(({ atMs }) => atMs < endsMs))
      for (const [node, count] of free.entries()) least[node] = Math.min(least[node] ?? 0, count)
    const nodes = findNodes(least, work)
    if (!nodes) continue
    split(timeline, endsMs)
    for (const { atMs, free } of timeline) if (atMs >= startsMs && atMs < endsMs) take(free, nodes, work.gpus)
    return { startsMs, nodes }
  }
  return null
}

function split(timeline: Moment[], atMs: number): void {
  const next = timeline.findIndex((moment) => moment.atMs >= atMs)
  if (timeline[next]?.atMs === atMs) return
  const at = next < 0 ? timeline.length : next
  timeline.splice(at, 0, { atMs, free: [...(timeline[at - 1]?.free ?? [])] })
}
