import type { Lane } from '../../domain/lanes.ts'
import { memoryMs } from '../../domain/scheduling.ts'
import { compareFractions } from './fractions.ts'
import type { Fraction, ResourceAmounts, Running, Tier, WorldView } from './model.ts'

/**
 * Who may have to leave for whom, and from whom one takes first. A rule sorts the candidates into groups (accounts, or
 * levels) and says how gladly one takes from a group that has lost so much already: the gladdest first, and inside a
 * group those who run on the nodes of a hold, then whoever started last.
 */
export interface PreemptionRule {
  tier: Tier
  mayLeave(running: Running): boolean
  groupOf(running: Running): string
  /** null: nothing at all is taken from a group that lost this much. */
  eagerness(group: string, lost: ResourceAmounts): Fraction | null
}

export interface Claiming {
  lane: Lane
  jobId: string
  /** Of all copies together. */
  asked: ResourceAmounts
}

/** In the order in which they are tried. */
export function rulesFor(world: WorldView, claiming: Claiming): PreemptionRule[] {
  const { settings } = world
  if (claiming.lane.interactive) return interactive(world, claiming)
  if (settings.policy === 'PRIORITY') return settings.preemptLowerPriority ? [lowerLevel(world, claiming)] : []
  const past = pastOf(world)
  return [strict(world, claiming, past), ...(settings.rotationQuantumMs < 0 ? [] : [rotation(world, claiming, past)])]
}

/** Preemptable, not interactive, and not on its way out already. */
export const isPreemptable = ({ lane, state, leaving }: Running): boolean =>
  (lane.preemptable || lane.restartable) && !lane.interactive && !leaving && state !== 'CANCELLING'

// ── FAIR_SHARE ──

/** The claimant's account holds less even with the job than the victim's has now. */
function strict(world: WorldView, { lane, asked }: Claiming, past: () => Past): PreemptionRule {
  const after = world.share(lane.account, { extra: asked })
  return {
    tier: 1,
    mayLeave: (running) => isBatchVictim(world, running, past) && running.lane.account !== lane.account,
    groupOf: (running) => running.lane.account,
    eagerness: (account, lost) => more(world.share(account, { without: lost }), after),
  }
}

/**
 * The account that holds more gives way although the claimant's will hold as much or more then: a slow round robin.
 * Nobody takes part twice within a quantum, unless the two could not swap back.
 */
function rotation(world: WorldView, { lane, jobId }: Claiming, past: () => Past): PreemptionRule {
  const now = world.share(lane.account)
  const mayClaim = () => !past().rotated.has(jobId)
  const cannotSwapBack = ({ lane: victim }: Running) => !(lane.preemptable || lane.restartable) || !victim.restartable
  const isFresh = (running: Running) => mayClaim() && !past().rotated.has(running.jobId)
  return {
    tier: 2,
    mayLeave: (running) =>
      running.lane.account !== lane.account &&
      isBatchVictim(world, running, past) &&
      !(running.wonTier !== null && isRecent(world, running.sinceMs)) &&
      (cannotSwapBack(running) || isFresh(running)),
    groupOf: (running) => running.lane.account,
    eagerness: (account, lost) => more(world.share(account, { without: lost }), now),
  }
}

const more = (share: Fraction, than: Fraction): Fraction | null => (compareFractions(share, than) > 0 ? share : null)

/** Whoever got its place by a rotation keeps it for a quantum; nobody is sent away more often than he has to be. */
function isBatchVictim(world: WorldView, running: Running, past: () => Past): boolean {
  const { nowMs, settings } = world
  return (
    isPreemptable(running) &&
    nowMs - running.sinceMs >= settings.minRunBeforePreemptMs &&
    !(running.wonTier === 2 && isRecent(world, running.sinceMs)) &&
    (past().evictions.get(running.jobId) ?? 0) < settings.maxPreemptionsPerJob
  )
}

const isRecent = ({ nowMs, settings }: WorldView, atMs: number) => nowMs - atMs < settings.rotationQuantumMs

// ── PRIORITY ──

/** Levels as they were given, never as waiting raised them: or two jobs would send each other away in turn. */
function lowerLevel(world: WorldView, { lane }: Claiming): PreemptionRule {
  const past = pastOf(world)
  return {
    tier: 1,
    mayLeave: (running) => isBatchVictim(world, running, past) && running.lane.priority < lane.priority,
    groupOf: (running) => String(running.lane.priority),
    eagerness: (level) => ({ num: BigInt(highestLevel - Number(level)), den: 1n }),
  }
}

const highestLevel = 100

// ── interactive claimants ──

/** Anybody who can be asked to leave, the own account last; under PRIORITY of a lower level still. */
function interactive({ settings }: WorldView, { lane }: Claiming): PreemptionRule[] {
  const byLevel = settings.policy === 'PRIORITY'
  if (byLevel && !settings.preemptLowerPriority) return []
  return [
    {
      tier: 0,
      mayLeave: (running) => isPreemptable(running) && (!byLevel || running.lane.priority < lane.priority),
      groupOf: (running) => (running.lane.account === lane.account ? 'own' : 'others'),
      eagerness: (group) => ({ num: group === 'own' ? 0n : 1n, den: 1n }),
    },
  ]
}

// ── what was ──

interface Past {
  /** Jobs that took part in a rotation. */
  rotated: ReadonlySet<string>
  /** How often a job had to leave for batch jobs. */
  evictions: ReadonlyMap<string, number>
}

/** Looked up once, and only if somebody is asked about. */
function pastOf(world: WorldView): () => Past {
  let known: Past | null = null
  return () => {
    known ??= findPast(world)
    return known
  }
}

function findPast({ preemptions, nowMs, settings }: WorldView): Past {
  const sinceMs = nowMs - memoryMs(settings)
  const rotated = new Set<string>()
  const evictions = new Map<string, number>()
  for (const { atMs, tier, claimantJobId, victimJobId } of preemptions) {
    if (atMs <= sinceMs) continue
    if (tier !== 0) evictions.set(victimJobId, (evictions.get(victimJobId) ?? 0) + 1)
    if (tier === 2) rotated.add(claimantJobId).add(victimJobId)
  }
  return { rotated, evictions }
}

/**
 * Who leaves before whom in one group. Runs that were committed together have the same time, and then the order in which
 * they were started counts, which is the order of the world's runs: with any other, jobs of several resources have been
 * seen to send each other away without end (30 of 100,000 random clusters).
 */
export const compareVictims = (a: Running, b: Running): number =>
  Number(b.backfilledOn !== null) - Number(a.backfilledOn !== null) || b.sinceMs - a.sinceMs
