import type { GraphBoxFragment, JobNeighboursQuery } from '../../../generated/graphql.ts'
import { readInParts } from '../../../ground/read-in-parts.ts'

export type Box = GraphBoxFragment

interface Edge {
  /** The job that the other job depends on. */
  from: string
  to: string
  on: 'SUCCEEDED' | 'FAILED' | 'FINISHED'
}

export interface JobGraph {
  boxes: ReadonlyMap<string, Box>
  edges: readonly Edge[]
  /** Number of neighbours that are not shown, by job id. */
  folded: ReadonlyMap<string, number>
}

type Neighbours = Extract<NonNullable<JobNeighboursQuery['nodes'][number]>, { dependents: unknown }>
/** Reads jobs with their neighbours. The result lacks deleted jobs. */
type ReadNeighbours = (ids: readonly string[]) => Promise<readonly Neighbours[]>

const boxesMax = 300
const idsPerRead = 20

/** Reads the dependencies and dependents of a job, level by level up to a maximum number of jobs. */
export async function readGraph(id: string, read: ReadNeighbours): Promise<JobGraph | null> {
  const [start] = await read([id])
  if (!start) return null
  const graph = {
    boxes: new Map<string, Box>([[id, start]]),
    edges: new Map<string, Edge>(),
    folded: new Map<string, number>(),
  }
  const known = new Map([[id, start]])
  const readAll = async (ids: readonly string[]) => {
    const missing = ids.filter((each) => !known.has(each))
    for (const each of await readInParts(missing, idsPerRead, read)) known.set(each.id, each)
    return ids.flatMap((each) => known.get(each) ?? [])
  }
  for (const direction of ['BEFORE', 'AFTER'] as const) {
    let level: readonly string[] = [id]
    while (level.length > 0) {
      const next = new Set<string>()
      for (const job of await readAll(level)) for (const found of addNeighbours(graph, job, direction)) next.add(found)
      level = [...next]
    }
  }
  return { ...graph, edges: [...graph.edges.values()] }
}

interface GrowingGraph {
  boxes: Map<string, Box>
  edges: Map<string, Edge>
  folded: Map<string, number>
}

/** Adds the neighbours of jobs to the graph. Returns the ids of jobs that it did not have. */
function addNeighbours(
  { boxes, edges, folded }: GrowingGraph,
  job: Neighbours,
  direction: 'BEFORE' | 'AFTER',
): string[] {
  const neighbours =
    direction === 'BEFORE'
      ? job.dependencies.map(({ job: box, on }) => ({ box, edge: { from: box.id, to: job.id, on } }))
      : job.dependents.nodes.map((box) => ({ box, edge: { from: job.id, to: box.id, on: 'SUCCEEDED' as const } }))
  const found: string[] = []
  let hidden = direction === 'AFTER' ? job.dependents.totalCount - job.dependents.nodes.length : 0
  for (const { box, edge } of neighbours) {
    const isNew = !boxes.has(box.id)
    if (isNew && boxes.size >= boxesMax) {
      hidden++
      continue
    }
    if (isNew) found.push(box.id)
    boxes.set(box.id, box)
    const key = `${edge.from} ${edge.to}`
    // Only the dependent job knows the condition of the dependency.
    if (direction === 'BEFORE' || !edges.has(key)) edges.set(key, edge)
  }
  if (hidden > 0) folded.set(job.id, (folded.get(job.id) ?? 0) + hidden)
  return found
}

/** Lists the ids of all dependencies or dependents of a job, the nearest first. */
export function listSide({ edges }: JobGraph, id: string, direction: 'BEFORE' | 'AFTER'): readonly string[] {
  const found = new Set<string>()
  let level = [id]
  while (level.length > 0) {
    const next = edges.flatMap(({ from, to }) =>
      direction === 'BEFORE' ? (level.includes(to) ? [from] : []) : level.includes(from) ? [to] : [],
    )
    level = [...new Set(next)].filter((each) => !found.has(each) && each !== id)
    for (const each of level) found.add(each)
  }
  return [...found]
}
