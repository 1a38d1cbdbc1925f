import { sumAmounts } from '../../domain/machines/amounts.ts'
import { type FreeNode, giveBack, type Placement, place, takeResources } from '../../domain/machines/placement.ts'
import { toNumber } from './fractions.ts'
import {
  byNode,
  type Claim,
  endMs,
  freedNodes,
  holdsAgainst,
  holdsPassed,
  isVoid,
  keepFree,
  subtract,
  usableFor,
} from './holds.ts'
import { type Eviction, type Hold, type JobClass, type Running, tiers, type WorldView } from './model.ts'
import { within } from './rations.ts'
import { reservedNodes } from './reservations.ts'

/**
 * A drain hold prevents starvation: a head that waited too long gets the nodes that become free soonest. Each class has
 * at most one drain hold. Holds never overlap: otherwise two jobs with several copies could each keep nodes that the
 * other needs. Under PRIORITY the hold moves to a new head of its class at once.
 *
 * The waiting time of a head counts from a time that is stored in the database, so a new leader grants the same holds
 * at the same times.
 */

interface Head extends Claim {
  class: JobClass
}

/** The time at which the head gets a drain hold; null: another head of its class has the hold. */
export function drainDueMs(world: WorldView, head: Pick<Head, 'lane' | 'entry' | 'class'>): number | null {
  const { entry } = head
  const isOfClass = ({ kind, class: ofClass }: Hold) => kind === 'DRAIN' && ofClass === head.class
  if (holdsAgainst(world, head).some(isOfClass)) return null
  return holdsPassed(world, head).some(isOfClass) ? entry.sinceMs : entry.sinceMs + world.settings.holdAfterMs
}

/**
 * Chooses the nodes that become free soonest for a head that waited too long. A run is expected to end at its maximum
 * run time. Among runs without a maximum, the oldest is expected to end first.
 */
export function drainHoldFor(world: WorldView, head: Head): Hold | null {
  const { nowMs } = world
  const dueMs = drainDueMs(world, head)
  const own = world.holds.get(head.entry.jobId)
  if (dueMs === null || dueMs > nowMs || (own && !isOverdue(world, own) && !isVoid(world, own, head.lane))) return null
  const found = soonest(world, head)
  return (
    found && {
      id: holdId(head.entry.jobId),
      jobId: head.entry.jobId,
      kind: 'DRAIN',
      class: head.class,
      placements: found.placements,
      sinceMs: own?.sinceMs ?? nowMs,
      expectedMs: found.expectedMs,
    }
  )
}

const isOverdue = ({ nowMs }: WorldView, { kind, expectedMs }: Hold): boolean =>
  kind === 'DRAIN' && expectedMs !== null && expectedMs <= nowMs

export const holdId = (jobId: string): string => `hold_${jobId.slice(jobId.indexOf('_') + 1)}`

function soonest(world: WorldView, head: Head): { placements: Placement[]; expectedMs: number | null } | null {
  const order = [...world.running.values()]
    .map((running) => ({ running, endMs: expectedEndMs(world, running) }))
    .sort((a, b) => compare(a.endMs, b.endMs) || a.running.sinceMs - b.running.sinceMs)
  const { lane } = head
  const usable = within(head.ration, untouched(world, head))
  const nodes = new Map(world.nodes.map((node) => [node.id, node]))
  const gone = order.map(({ running: { placements } }) =>
    placements.flatMap((placement) => {
      const node = nodes.get(placement.nodeId)
      return node ? [{ node, placement }] : []
    }),
  )
  // Changes the nodes in place and restores them: the cache of the machines belongs to these objects.
  const withEnds = (count: number) => {
    const ended = gone.slice(0, count).flat()
    for (const { node, placement } of ended) giveBack(node, placement)
    try {
      return place(lane.shape, world.nodes, { ...usable, interactive: lane.interactive })
    } finally {
      for (const { node, placement } of ended) takeResources(node, placement)
    }
  }
  let best = withEnds(order.length)
  if (!best) return null
  let [tooFew, enough] = [-1, order.length]
  while (enough - tooFew > 1) {
    const middle = Math.floor((tooFew + enough) / 2)
    const placements = withEnds(middle)
    if (placements) [best, enough] = [placements, middle]
    else tooFew = middle
  }
  const expected = enough === 0 ? world.nowMs + overrunMs : order[enough - 1]?.endMs
  return { placements: best, expectedMs: expected !== undefined && Number.isFinite(expected) ? expected : null }
}

/** Expected time until an evicted or overdue run is reported as ended. */
const overrunMs = 30_000

function expectedEndMs({ nowMs }: WorldView, running: Running): number {
  const end = endMs(running)
  return running.leaving || end <= nowMs ? nowMs + overrunMs : end
}

const compare = <T extends number | string>(a: T, b: T) => (a === b ? 0 : a < b ? -1 : 1)

function untouched(world: WorldView, { lane, entry }: Claim): (node: FreeNode) => FreeNode | null {
  const mayUse = reservedNodes(world, lane)
  const kept = byNode(holdsAgainst(world, { lane, entry }))
  return (node) => {
    if (mayUse && !mayUse(node)) return null
    const here = kept.get(node.id)
    if (!here) return node
    const left = { cpu: node.freeCpu, memory: node.freeMemory }
    for (const { placement } of here) subtract(left, placement)
    return keepFree(node, here, left)
  }
}

// ── eviction of backfilled runs ──

/**
 * Chooses backfilled runs to evict when the owner of the hold needs nothing but their resources: the most recent first,
 * and as few as possible. null: even all of them free too little.
 */
export function backfillEviction(
  world: WorldView,
  claim: Claim,
): { placements: Placement[]; victims: Eviction['victims'] } | null {
  const { lane, entry } = claim
  const { view, budget } = usableFor(world, claim)
  const without = (gone: readonly Running[]) =>
    place(lane.shape, freedNodes(world.nodes, gone), { view, budget, interactive: lane.interactive })
  const chosen: Running[] = []
  let placements: Placement[] | null = null
  for (const running of backfilledOn(world, entry.jobId)) {
    chosen.push(running)
    placements = without(chosen)
    if (placements) break
  }
  if (!placements) return null
  for (const running of chosen.slice(0, -1).reverse()) {
    const fewer = chosen.filter((one) => one !== running)
    const still = without(fewer)
    if (!still) continue
    chosen.splice(chosen.indexOf(running), 1)
    placements = still
  }
  const share = (...of: Parameters<WorldView['occupancy']>) => toNumber(world.occupancy(...of))
  const claimant: [number, number] = [share(lane.account), share(lane.account, { extra: sumAmounts(placements) })]
  const victims = chosen.map((running) => {
    const { account } = running.lane
    const victim: [number, number] = [share(account), share(account, { without: sumAmounts(running.placements) })]
    return { running, tier: tiers.drain, shares: { claimant, victim } }
  })
  return { placements, victims }
}

const backfilledOn = ({ running }: WorldView, jobId: string): Running[] =>
  [...running.values()]
    .filter((run) => run.backfilledOn === jobId && !run.leaving && run.state !== 'CANCELLING')
    .sort((a, b) => b.sinceMs - a.sinceMs || compare(b.runId, a.runId))
