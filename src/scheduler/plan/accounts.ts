import {
  addAmounts,
  computeSharedCapacity,
  isWithinShare,
  none,
  type ResourceAmounts,
  resources,
  sumAmounts,
} from '../../domain/machines/amounts.ts'
import type { FreeNode, Placement } from '../../domain/machines/placement.ts'
import { DecayedUse } from './decayed-use.ts'
import { compareFractions, millionths, nothing, toMillionths } from './fractions.ts'
import type { Fraction } from './model.ts'
import { ServiceOrder } from './service-order.ts'
import { findPartingNodes, isAccount, listPathTo } from './share-tree.ts'

/**
 * The occupancy of a node of the tree of shares: the fraction of the healthy nodes that it uses, where amounts used
 * outside Berth do not count as capacity. The resource with the largest fraction counts, divided by the weight. A
 * preemption changes the occupancy at once: the preempted run counts as ended, and the job that gets its resources as
 * running.
 *
 * Jobs are ordered by the *shares* of their nodes. The share is the occupancy. With a half-life it is the decayed use
 * some time from now, assuming that the node keeps what it holds: so a start counts at once. That time is about as long
 * as runs take: if it were longer, a node with few large jobs would be first after each end, whatever it has used. A
 * share changes only when its node changes and at ticks; the order of lanes relies on this.
 */
export class Accounts {
  readonly past = new DecayedUse()
  private tickedMs = 0
  private aheadMs = aheadMsMin
  private readonly service = new ServiceOrder()
  private capacity: ResourceAmounts = none
  private weights: ReadonlyMap<string, number> = new Map()
  private readonly used = new Map<string, ResourceAmounts>()
  private readonly shares = new Map<string, Fraction>()

  setCapacity(nodes: readonly FreeNode[]): void {
    this.shares.clear()
    this.capacity = computeSharedCapacity(nodes)
  }

  setWeights(weights: ReadonlyMap<string, number>): void {
    this.shares.clear()
    this.weights = weights
  }

  setHalfLife(halfLifeMs: number | null): void {
    this.shares.clear()
    this.past.halfLifeMs = halfLifeMs
  }

  change(path: readonly string[], placements: readonly Placement[], sign: 1 | -1): void {
    const amounts = sumAmounts(placements)
    for (const node of path) {
      const before = this.used.get(node) ?? none
      this.past.settle(node, before)
      const left = addAmounts(before, amounts, sign)
      if (resources.some((resource) => left[resource] !== 0)) this.used.set(node, left)
      else this.used.delete(node)
      this.shares.delete(node)
    }
  }

  /** Compares two nodes below the same node. Negative: `a` comes first. */
  compare(a: string, b: string): number {
    return compareFractions(this.share(a), this.share(b)) || this.service.compare(a, b)
  }

  share(account: string): Fraction {
    const used = this.used.get(account)
    if (!used && this.past.halfLifeMs === null) return nothing
    const known = this.shares.get(account)
    if (known) return known
    const share = this.partOf(account, this.soonOf(account, used ?? none))
    this.shares.set(account, share)
    return share
  }

  private soonOf(account: string, used: ResourceAmounts): ResourceAmounts {
    const { halfLifeMs } = this.past
    if (halfLifeMs === null) return used
    const past = this.past.of(account, used)
    const left = 2 ** -Math.min(this.aheadMs / halfLifeMs, aheadMax)
    const soon = (resource: keyof ResourceAmounts) => past[resource] * left + used[resource] * (1 - left)
    return { cpu: soon('cpu'), memory: soon('memory'), gpu: soon('gpu') }
  }

  occupancy(account: string, extra = none, without = none): Fraction {
    return this.partOf(account, addAmounts(addAmounts(this.used.get(account) ?? none, extra, 1), without, -1))
  }

  /** Sets the past use of a person, which also counts for all nodes above. */
  putPast(leaf: string, use: ResourceAmounts): void {
    for (const node of listPathTo(leaf)) this.past.put(node, addAmounts(this.past.of(node, none), use, 1))
  }

  /** null: no half-life is configured, so past use does not count. */
  decayedUse(account: string): Fraction | null {
    if (this.past.halfLifeMs === null) return null
    return this.partOf(account, this.past.of(account, this.used.get(account) ?? none))
  }

  get decayedUses(): ReadonlyMap<string, ResourceAmounts> {
    if (this.past.halfLifeMs === null) return new Map()
    const leaves = [...this.past.accounts(this.used)].filter((node) => !isAccount(node))
    return new Map(leaves.map((leaf) => [leaf, this.past.of(leaf, this.used.get(leaf) ?? none)]))
  }

  /** Next recalculation of the shares: at least a hundred per half-life, at most one per second. */
  get nextTickMs(): number | null {
    const { halfLifeMs } = this.past
    return halfLifeMs === null ? null : this.tickedMs + Math.max(1_000, Math.min(halfLifeMs / 100, this.aheadMs))
  }

  /** Lists the nodes whose shares change now. `meanAgeMs`: estimates the remaining run time, as in a busy pool. */
  due(meanAgeMs: () => number): readonly string[] {
    const { nextTickMs, past } = this
    if (nextTickMs === null || past.nowMs < nextTickMs) return []
    this.tickedMs = past.nowMs
    this.aheadMs = Math.max(aheadMsMin, meanAgeMs())
    return [...past.accounts(this.used)]
  }

  renew(account: string): void {
    this.shares.delete(account)
  }

  serve(path: readonly string[], amounts: ResourceAmounts): () => void {
    const parts = resources.map((resource) =>
      this.capacity[resource] > 0 ? amounts[resource] / this.capacity[resource] : 0,
    )
    const size = Math.max(...parts)
    const undo = path.map((node, depth) =>
      this.service.serve(node, { above: path[depth - 1] ?? '', size, weight: this.weightOf(node) }),
    )
    return () => {
      for (const each of undo) each()
    }
  }

  /** Leaves that had a start, in service order: where the paths of two leaves part, the later one was served later. */
  get served(): string[] {
    const leaves = this.service.nodes.filter((node) => !isAccount(node))
    const paths = new Map(leaves.map((leaf) => [leaf, listPathTo(leaf)]))
    return leaves.toSorted((a, b) => {
      const parting = findPartingNodes(paths.get(a) ?? [], paths.get(b) ?? [])
      return parting ? this.service.compare(...parting) : 0
    })
  }

  weightOf(account: string): number {
    return this.weights.get(account) ?? 1
  }

  isWithin(amounts: readonly ResourceAmounts[], part: number): boolean {
    return isWithinShare(amounts, this.capacity, part)
  }

  private partOf(account: string, amounts: ResourceAmounts): Fraction {
    const weight = toMillionths(this.weightOf(account))
    return resources
      .filter((resource) => this.capacity[resource] > 0 && amounts[resource] > 0)
      .map((resource) => ({ num: exactly(amounts[resource]), den: BigInt(this.capacity[resource]) * weight }))
      .reduce((a, b) => (compareFractions(a, b) < 0 ? b : a), nothing)
  }
}

const aheadMsMin = 60_000
/** Maximum of `aheadMs`, as a fraction of the half-life. */
const aheadMax = 0.1

/** Converts to millionths. Whole amounts are exact. */
const exactly = (amount: number): bigint =>
  Number.isInteger(amount) ? BigInt(amount) * BigInt(millionths) : BigInt(Math.round(amount * millionths))
