import type { Lane } from '../../domain/lanes.ts'
import { resources, sumAmounts } from '../../domain/machines/amounts.ts'
import type { Running, WorldView } from './model.ts'
import type { RemovalTrial } from './removal-trial.ts'

/**
 * Finds the smallest set of runs whose end makes one copy fit: first among runs of other accounts, then among all.
 * Among sets of equal size, the one that loses the least work wins. The search is exact up to `stepsMax` steps; nodes
 * that need few ends are searched first, so a cut search still gives a good result. null: none found, or the job has
 * several copies.
 */

interface Search {
  trial: RemovalTrial
  candidates: readonly Running[]
  lane: Lane
}

const stepsMax = 20_000

export function findFewestVictims(world: WorldView, { trial, candidates, lane }: Search): Running[] | null {
  if (lane.shape.copies > 1) return null
  const isOther = ({ lane: { account } }: Running) => account !== lane.account
  const search = { world, trial, steps: stepsMax }
  return findFewest(search, candidates.filter(isOther)) ?? findFewest(search, candidates)
}

interface Budget {
  world: WorldView
  trial: RemovalTrial
  steps: number
}

interface Found {
  runs: Running[]
  lostMs: number
}

function findFewest(budget: Budget, candidates: readonly Running[]): Running[] | null {
  const sets = listNodeSets(budget, candidates)
  let best: Found | null = null
  for (const { runs, atLeast } of sets) {
    if (best && atLeast > best.runs.length) break
    best = findFewestOnNode(budget, { runs, atLeast, best }) ?? best
  }
  return best?.runs ?? null
}

interface NodeSet {
  runs: Running[]
  atLeast: number
}

function listNodeSets({ world, trial }: Budget, candidates: readonly Running[]): NodeSet[] {
  const byNode = new Map<string, Running[]>()
  for (const running of candidates)
    for (const nodeId of new Set(running.placements.map((placement) => placement.nodeId)))
      byNode.set(nodeId, [...(byNode.get(nodeId) ?? []), running])
  const sets: NodeSet[] = []
  for (const [nodeId, runs] of byNode) {
    const atLeast = computeMinimumEnds(trial, nodeId, runs)
    if (atLeast !== null) sets.push({ runs: runs.toSorted((a, b) => lostMs(world, a) - lostMs(world, b)), atLeast })
  }
  return sets.toSorted((a, b) => a.atLeast - b.atLeast || lostMs(world, a.runs[0]) - lostMs(world, b.runs[0]))
}

const lostMs = ({ nowMs }: WorldView, running: Running | undefined): number =>
  running ? nowMs - (running.startedMs ?? running.sinceMs) : 0

/** Lower bound of the number of runs that must end on the node; null: even the end of all runs frees too little. */
function computeMinimumEnds(trial: RemovalTrial, nodeId: string, runs: readonly Running[]): number | null {
  const lacks = trial.lacksOn(nodeId)
  trial.removeAll(runs)
  const doesFit = trial.fitsOn(nodeId)
  trial.putAllBack()
  if (!doesFit) return null
  const given = runs.map(({ placements }) => sumAmounts(placements.filter((placement) => placement.nodeId === nodeId)))
  return Math.max(
    1,
    ...resources.map((resource) =>
      countToCover(
        given.map((amounts) => amounts[resource]),
        lacks[resource],
      ),
    ),
  )
}

function countToCover(amounts: readonly number[], lacks: number): number {
  let left = lacks
  let count = 0
  for (const amount of amounts.toSorted((a, b) => b - a)) {
    if (left <= 0) break
    left -= amount
    count++
  }
  return count
}

interface Depth {
  budget: Budget
  runs: readonly Running[]
  count: number
  chosen: Running[]
  best: Found | null
}

function findFewestOnNode(budget: Budget, { runs, atLeast, best }: NodeSet & { best: Found | null }): Found | null {
  const most = best ? best.runs.length : runs.length
  for (let count = atLeast; count <= most; count++) {
    const depth: Depth = { budget, runs, count, chosen: [], best: best?.runs.length === count ? best : null }
    addRuns(depth, 0, 0)
    if (depth.best && depth.best !== best) return depth.best
  }
  return null
}

/**
 * Adds runs to `chosen` until it has `count`. Stops at the first run that loses too much work: runs are sorted by lost
 * work, so all later ones lose more.
 */
function addRuns(depth: Depth, from: number, lost: number): void {
  const { budget, runs, count, chosen } = depth
  const missing = count - chosen.length
  for (let at = from; at + missing <= runs.length && budget.steps > 0; at++) {
    const running = runs[at]
    const next = lostMs(budget.world, running)
    if (!running || (depth.best && lost + missing * next >= depth.best.lostMs)) return
    budget.steps--
    budget.trial.remove(running)
    chosen.push(running)
    if (missing > 1) addRuns(depth, at + 1, lost + next)
    else if (budget.trial.fits) depth.best = { runs: [...chosen], lostMs: lost + next }
    chosen.pop()
    budget.trial.putBack(running)
  }
}
