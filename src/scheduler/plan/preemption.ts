import type { Lane } from '../../domain/lanes.ts'
import { addAmounts, none, type ResourceAmounts, sumAmounts, sumRequested } from '../../domain/machines/amounts.ts'
import type { Placement } from '../../domain/machines/placement.ts'
import { findFewestVictims } from './fewest.ts'
import { compareFractions, toNumber } from './fractions.ts'
import { Heap } from './heap.ts'
import { type Claim, computeUsable } from './holds.ts'
import { getOrCompute } from './memo.ts'
import { type Eviction, type Fraction, type Running, tiers, type WorldView } from './model.ts'
import { RemovalTrial } from './removal-trial.ts'
import { findPartingNodes, getSharePath, toLeaf } from './share-tree.ts'
import { type Claiming, compareVictims, isPreemptable, listRulesFor, type PreemptionRule } from './victims.ts'

/**
 * Chooses the runs to evict for a job that does not fit. Tries the rules (victims.ts) one after the other. For each
 * rule, runs are removed until all copies of the job fit; then runs that turn out to be unnecessary are spared, the
 * last removed first. Runs that were evicted before no longer count in the shares, but their resources are still in
 * use. The world is restored afterwards.
 */

export interface EvictionPlan {
  placements: Placement[]
  victims: Eviction['victims']
}

export function planPreemption(world: WorldView, claimant: Claim): EvictionPlan | null {
  const { lane, entry } = claimant
  const claiming: Claiming = { lane, jobId: entry.jobId, asked: sumRequested(lane.shape) }
  const { view, budget } = computeUsable(world, claimant, { evicts: true })
  const wanted = { shape: lane.shape, interactive: lane.interactive, view, budget }
  for (const rule of listRulesFor(world, claiming)) {
    const eager = listEagerRuns(world, rule)
    const plan = eager.length > 0 && tryRule(world, { rule, claiming, trial: new RemovalTrial(world, wanted), eager })
    if (plan) return withinBudget(world, plan.victims.length) ? plan : null
  }
  return null
}

export const budgetMs = 60_000

/** true: `more` victims are within the maximum per minute. After a minute without evictions, a job may exceed it. */
function withinBudget({ settings, preemptions, nowMs }: WorldView, more: number): boolean {
  const max = settings.maxPreemptionsPerMinute
  if (max === null) return true
  const recent = preemptions.filter(({ atMs }) => atMs > nowMs - budgetMs).length
  return recent + more <= max || (recent === 0 && max > 0)
}

// ── one rule ──

interface Attempt {
  rule: PreemptionRule
  claiming: Claiming
  trial: RemovalTrial
  eager: readonly Running[]
}

/** Lists runs that the rule may evict. Checks lanes before runs, because often no run of thousands may be evicted. */
function listEagerRuns(world: WorldView, rule: PreemptionRule): Running[] {
  const groups = new Map<string, boolean>()
  const lanes = new Map<Lane, boolean>()
  const isEager = (group: string) => getOrCompute(groups, group, () => rule.eagerness(group, none) !== null)
  const all: Running[] = []
  for (const running of world.running.values()) {
    if (!isPreemptable(running)) continue
    const known = getOrCompute(lanes, running.lane, () => isEager(rule.groupOf(running)))
    if (known && rule.mayLeave(running)) all.push(running)
  }
  return all
}

function tryRule(world: WorldView, attempt: Attempt): EvictionPlan | null {
  const { trial, rule, claiming } = attempt
  try {
    const candidates = listHelpfulRuns(attempt)
    if (candidates.length === 0) return null
    const fewest =
      rule.tier === tiers.interactive ? findFewestVictims(world, { trial, candidates, lane: claiming.lane }) : null
    const leaving = fewest ?? takeInOrder(attempt, candidates)
    if (!leaving) return null
    for (const running of leaving) trial.remove(running)
    const placements = trial.placements()
    return placements && checkEviction(world, attempt, { placements, leaving })
  } finally {
    trial.close()
  }
}

/** Lists runs on nodes where a copy would fit if all runs that may be evicted ended. */
function listHelpfulRuns({ trial, eager }: Attempt): Running[] {
  if (trial.fits) return []
  trial.removeAll(eager)
  const helping = trial.fits ? eager.filter((running) => trial.fitsWith(running)) : []
  trial.putAllBack()
  return helping
}

interface Group {
  name: string
  waiting: Running[]
  lost: ResourceAmounts
  eagerness: Fraction
}

/** Removes runs from the group that should lose a run next, until the job fits; null: it never fits. */
function takeInOrder({ rule, trial }: Attempt, candidates: readonly Running[]): Running[] | null {
  const groups = new Heap<Group>((a, b) => (compareFractions(a.eagerness, b.eagerness) || compareNext(b, a)) > 0)
  for (const [name, members] of Map.groupBy(candidates, rule.groupOf)) {
    const eagerness = rule.eagerness(name, none)
    // The sort is stable, so of runs that started together, the last one is evicted first.
    const waiting = members.toSorted((a, b) => compareVictims(b, a))
    if (eagerness) groups.put({ name, waiting, lost: none, eagerness })
  }
  const taken: Running[] = []
  while (!trial.fits) {
    const group = groups.first
    const running = group?.waiting.pop()
    if (!group || !running) return null
    trial.remove(running)
    taken.push(running)
    group.lost = addAmounts(group.lost, sumAmounts(running.placements), 1)
    const eagerness = group.waiting.length > 0 ? rule.eagerness(group.name, group.lost) : null
    if (!eagerness) groups.remove(group)
    else {
      group.eagerness = eagerness
      groups.put(group)
    }
  }
  return spare(trial, taken)
}

function compareNext(a: Group, b: Group): number {
  const [first, second] = [a.waiting.at(-1), b.waiting.at(-1)]
  return (first && second && compareVictims(first, second)) || (a.name < b.name ? -1 : 1)
}

/** Spares runs that need not leave, the last removed first. Always spares runs on nodes where no copy fits. */
function spare(trial: RemovalTrial, taken: readonly Running[]): Running[] {
  const leaving = new Set(taken)
  for (const running of taken) {
    if (trial.fitsWith(running)) continue
    trial.putBack(running)
    leaving.delete(running)
  }
  for (const running of [...leaving].toReversed()) {
    trial.putBack(running)
    if (trial.fits) leaving.delete(running)
    else trial.remove(running)
  }
  return [...leaving]
}

// ── the plan ──

/**
 * Checks the rule again with the actual placements, because an exclusive job gets more than it requests. null: the rule
 * forbids this eviction.
 */
function checkEviction(
  world: WorldView,
  { rule, claiming }: Attempt,
  { placements, leaving }: { placements: Placement[]; leaving: readonly Running[] },
): EvictionPlan | null {
  const asked = sumAmounts(placements)
  const final = rule.tier === tiers.strict ? (listRulesFor(world, { ...claiming, asked })[0] ?? rule) : rule
  const share = (...of: Parameters<WorldView['occupancy']>) => toNumber(world.occupancy(...of))
  const own = getSharePath(claiming.lane)
  if (rule.tier === tiers.strict && raisesShareAbove(world, own, { asked, leaving })) return null
  const lost = new Map<string, ResourceAmounts>()
  const victims: EvictionPlan['victims'][number][] = []
  for (const running of leaving) {
    const group = final.groupOf(running)
    const before = lost.get(group) ?? none
    if (final.eagerness(group, before) === null) return null
    const after = addAmounts(before, sumAmounts(running.placements), 1)
    lost.set(group, after)
    const [mine, theirs] = findPartingNodes(own, getSharePath(running.lane)) ?? [
      toLeaf(running.lane),
      toLeaf(running.lane),
    ]
    const claimant: [number, number] = [share(mine), share(mine, { extra: asked })]
    const victim: [number, number] = [share(theirs, { without: before }), share(theirs, { without: after })]
    victims.push({ running, tier: rule.tier, shares: { claimant, victim } })
  }
  return { placements, victims }
}

/**
 * true: people of one account, or accounts below one, would exchange a run for a larger one, so the share of the account
 * above rises. Then other accounts could evict in turn, without end.
 */
function raisesShareAbove(
  world: WorldView,
  own: readonly string[],
  { asked, leaving }: { asked: ResourceAmounts; leaving: readonly Running[] },
): boolean {
  if (world.settings.policy !== 'FAIR_SHARE') return false
  const above = own.filter((node, depth) => leaving.every(({ lane }) => getSharePath(lane)[depth] === node))
  const without = sumAmounts(leaving.flatMap(({ placements }) => placements))
  return above.some(
    (node) => compareFractions(world.occupancy(node, { extra: asked, without }), world.occupancy(node)) > 0,
  )
}
