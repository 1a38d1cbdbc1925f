import { sumAmounts } from '../../domain/machines/amounts.ts'
import { type Placement, place } from '../../domain/machines/placement.ts'
import { toNumber } from './fractions.ts'
import { type Claim, computeUsable, freeRuns } from './holds.ts'
import { type Running, tiers, type WorldView } from './model.ts'
import type { EvictionPlan } from './preemption.ts'

/**
 * Chooses runs that were backfilled on the nodes of a job, to evict them when the job needs nothing but their
 * resources: the most recent first, and as few as possible. null: even all of these runs free too little.
 */
export function planBackfillEviction(world: WorldView, claim: Claim): EvictionPlan | null {
  const { lane, entry } = claim
  const backfilled = backfilledOn(world, entry.jobId)
  if (backfilled.length === 0) return null
  const { view, budget } = computeUsable(world, claim)
  const without = (gone: readonly Running[]) =>
    place(lane.shape, freeRuns(world.nodes, gone), { view, budget, interactive: lane.interactive })
  const chosen: Running[] = []
  let placements: Placement[] | null = null
  for (const running of backfilled) {
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
    return { running, tier: tiers.backfilled, shares: { claimant, victim } }
  })
  return { placements, victims }
}

const backfilledOn = ({ running }: WorldView, jobId: string): Running[] =>
  [...running.values()]
    .filter((run) => run.backfilledOn === jobId && !run.leaving && run.state !== 'CANCELLING')
    .sort((a, b) => b.sinceMs - a.sinceMs || (b.runId < a.runId ? -1 : 1))
