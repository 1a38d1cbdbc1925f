import type { Lane } from '../../domain/lanes.ts'
import type { ResourceAmounts } from '../../domain/machines/amounts.ts'
import { preemptionMemoryMs } from '../../domain/scheduling.ts'
import { compareFractions } from './fractions.ts'
import { getOrCompute } from './memo.ts'
import { type Fraction, type Running, type Tier, tiers, type WorldView } from './model.ts'
import { findPartingNodes, getSharePath, listPathTo, toLeaf } from './share-tree.ts'

/**
 * Rules of preemption. A rule sorts candidates into groups (accounts or priorities) and ranks the groups by their
 * losses so far: the first group loses a run next. Inside a group, backfilled runs come first, then the run that
 * started last.
 */

export interface PreemptionRule {
  tier: Tier
  mayLeave(running: Running): boolean
  groupOf(running: Running): string
  eagerness(group: string, lost: ResourceAmounts): Fraction | null
}

export interface Claiming {
  lane: Lane
  jobId: string
  asked: ResourceAmounts
}

export function listRulesFor(world: WorldView, claiming: Claiming): PreemptionRule[] {
  const { settings } = world
  if (claiming.lane.interactive) return makeInteractiveRules(world, claiming)
  if (settings.policy === 'PRIORITY') return settings.preemptLowerPriority ? [makeLowerLevelRule(world, claiming)] : []
  const past = createPastReader(world)
  return [
    makeStrictRule(world, claiming, past),
    ...(settings.rotationQuantumMs < 0 ? [] : [makeRotationRule(world, claiming, past)]),
  ]
}

export const isPreemptable = ({ lane, state, leaving }: Running): boolean =>
  (lane.preemptable || lane.restartable) && !lane.interactive && !leaving && state !== 'CANCELLING'

// ── FAIR_SHARE ──

/**
 * The nodes that both rules compare: those at which the paths of the claimant and of the victim part, two accounts or
 * two people of one account. The node of the victim is its group.
 */
function partingFrom({ lane }: Claiming) {
  const own = getSharePath(lane)
  const groups = new Map<readonly string[], string>()
  const besides = new Map<string, string>()
  const partFrom = (path: readonly string[]) => findPartingNodes(own, path)?.[1] ?? toLeaf(lane)
  return {
    groupOf: ({ lane: victim }: Running): string => getOrCompute(groups, getSharePath(victim), partFrom),
    beside: (group: string): string =>
      getOrCompute(besides, group, () => own[listPathTo(group).length - 1] ?? toLeaf(lane)),
  }
}

/** Strict rule: the share of the claimant's node, including the job, is smaller than that of the victim's node now. */
function makeStrictRule(world: WorldView, claiming: Claiming, past: () => Past): PreemptionRule {
  const { groupOf, beside } = partingFrom(claiming)
  const known = new Map<string, boolean>()
  const hasMore = (group: string) => getOrCompute(known, group, () => isBehind(world, group, beside(group)))
  return {
    tier: tiers.strict,
    mayLeave: (running) => isBatchVictim(world, running, past) && hasMore(groupOf(running)),
    groupOf,
    eagerness: (group, lost) =>
      ifGreater(world.occupancy(group, { without: lost }), world.occupancy(beside(group), { extra: claiming.asked })),
  }
}

/**
 * Slow rotation: the node with the greater share loses a run even if the claimant's share is greater afterwards. A job
 * takes part at most once per quantum, unless the two jobs could not swap back. Within a quantum a node either only loses
 * or only gains: otherwise two accounts could evict each other in turn.
 */
function makeRotationRule(world: WorldView, claiming: Claiming, past: () => Past): PreemptionRule {
  const { lane, jobId } = claiming
  const { groupOf, beside } = partingFrom(claiming)
  const mayClaim = () => !past().rotated.has(jobId)
  const changesHoldings = (group: string) => !past().gave.has(beside(group)) && !past().took.has(group)
  const cannotSwapBack = ({ lane: victim }: Running) => !(lane.preemptable || lane.restartable) || !victim.restartable
  const isFresh = (running: Running) => mayClaim() && !past().rotated.has(running.jobId)
  return {
    tier: tiers.rotation,
    mayLeave: (running) =>
      isBehind(world, groupOf(running), beside(groupOf(running))) &&
      isBatchVictim(world, running, past) &&
      changesHoldings(groupOf(running)) &&
      !(running.wonTier !== null && isRecent(world, running.sinceMs)) &&
      (cannotSwapBack(running) || isFresh(running)),
    groupOf,
    eagerness: (group, lost) => ifGreater(world.occupancy(group, { without: lost }), world.occupancy(beside(group))),
  }
}

/** With a half-life, no node evicts runs of a node with a smaller share, which is still owed resources. */
const isBehind = (world: WorldView, victim: string, claimant: string): boolean =>
  victim !== claimant &&
  (world.settings.shareHalfLifeMs === null || compareFractions(world.share(victim), world.share(claimant)) > 0)

const ifGreater = (share: Fraction, than: Fraction): Fraction | null =>
  compareFractions(share, than) > 0 ? share : null

/**
 * A run that started by a rotation is safe for one quantum. A job that lost work is safe until it has run twice as long
 * as the lost time, so it loses at most one and a half times its own length.
 */
function isBatchVictim(world: WorldView, running: Running, past: () => Past): boolean {
  const { nowMs, settings } = world
  return (
    isPreemptable(running) &&
    nowMs - running.sinceMs >= settings.minRunBeforePreemptMs &&
    nowMs >= computeRipeMs(running) &&
    !(running.wonTier === 2 && isRecent(world, running.sinceMs)) &&
    (past().evictions.get(running.jobId) ?? 0) < settings.maxPreemptionsPerJob
  )
}

/** When the run has lasted twice the time that its job lost. Infinity: a later run of a job has not begun. */
export const computeRipeMs = ({ run, startedMs, lostMs }: Running): number =>
  run === 1 ? 0 : (startedMs ?? Number.POSITIVE_INFINITY) + 2 * lostMs

const isRecent = ({ nowMs, settings }: WorldView, atMs: number) => nowMs - atMs < settings.rotationQuantumMs

// ── PRIORITY ──

/** Compares configured priorities, not priorities raised by waiting: otherwise two jobs would evict each other in turn. */
function makeLowerLevelRule(world: WorldView, { lane }: Claiming): PreemptionRule {
  const past = createPastReader(world)
  return {
    tier: tiers.strict,
    mayLeave: (running) => isBatchVictim(world, running, past) && running.lane.priority < lane.priority,
    groupOf: (running) => String(running.lane.priority),
    eagerness: (level) => ({ num: BigInt(highestLevel - Number(level)), den: 1n }),
  }
}

const highestLevel = 100

// ── interactive claimants ──

/** Runs of the claimant's own account come last. Under PRIORITY only runs of a lower priority may be evicted. */
function makeInteractiveRules({ settings }: WorldView, { lane }: Claiming): PreemptionRule[] {
  const byLevel = settings.policy === 'PRIORITY'
  if (byLevel && !settings.preemptLowerPriority) return []
  return [
    {
      tier: tiers.interactive,
      mayLeave: (running) => isPreemptable(running) && (!byLevel || running.lane.priority < lane.priority),
      groupOf: (running) => (running.lane.account === lane.account ? 'own' : 'others'),
      eagerness: (group) => ({ num: group === 'own' ? 0n : 1n, den: 1n }),
    },
  ]
}

// ── past preemptions ──

interface Past {
  rotated: ReadonlySet<string>
  gave: ReadonlySet<string>
  took: ReadonlySet<string>
  evictions: ReadonlyMap<string, number>
}

function createPastReader(world: WorldView): () => Past {
  let known: Past | null = null
  return () => {
    known ??= findPast(world)
    return known
  }
}

function findPast({ preemptions, nowMs, settings }: WorldView): Past {
  const sinceMs = nowMs - preemptionMemoryMs(settings)
  const rotated = new Set<string>()
  const [gave, took] = [new Set<string>(), new Set<string>()]
  const evictions = new Map<string, number>()
  for (const { atMs, tier, claimantJobId, victimJobId, claimant, victim } of preemptions) {
    if (atMs <= sinceMs) continue
    if (tier !== tiers.interactive) evictions.set(victimJobId, (evictions.get(victimJobId) ?? 0) + 1)
    if (tier !== tiers.rotation) continue
    rotated.add(claimantJobId).add(victimJobId)
    const [giving, taking] = findPartingNodes(listPathTo(victim), listPathTo(claimant)) ?? [victim, claimant]
    gave.add(giving)
    took.add(taking)
  }
  return { rotated, gave, took, evictions }
}

/**
 * Runs that were committed together keep the order of their starts: otherwise jobs of several resources evicted each
 * other without end (30 of 100,000 random clusters).
 */
export const compareVictims = (a: Running, b: Running): number =>
  Number(b.backfilledOn !== null) - Number(a.backfilledOn !== null) || b.sinceMs - a.sinceMs
