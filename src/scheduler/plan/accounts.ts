import {
  added,
  isWithinShare,
  none,
  type ResourceAmounts,
  resources,
  sharedCapacity,
  sumAmounts,
} from '../../domain/machines/amounts.ts'
import type { FreeNode, Placement } from '../../domain/machines/placement.ts'
import { DecayedUse } from './decayed-use.ts'
import { compareFractions, inMillionths, millionths, nothing } from './fractions.ts'
import type { Fraction } from './model.ts'
import { ServiceOrder } from './service-order.ts'

/**
 * The occupancy of an account: the fraction of the healthy nodes that it uses, where amounts used outside Berth do not
 * count as capacity. The resource with the largest fraction counts, divided by the weight of the account. A preemption
 * changes the occupancy at once: the preempted run counts as ended, and the job that gets its resources as running.
 *
 * Jobs are ordered by the *share* of their account. The share is the occupancy. With a half-life it is the decayed use
 * a tenth of a half-life from now, assuming that the account keeps what it holds: so a start counts at once, but past
 * use counts most. A share changes only when its account changes and at ticks; the order of lanes relies on this.
 */
export class Accounts {
  readonly service = new ServiceOrder()
  readonly past = new DecayedUse()
  private tickedMs = 0
  private capacity: ResourceAmounts = none
  private weights: ReadonlyMap<string, number> = new Map()
  private readonly used = new Map<string, ResourceAmounts>()
  private readonly shares = new Map<string, Fraction>()

  setCapacity(nodes: readonly FreeNode[]): void {
    this.shares.clear()
    this.capacity = sharedCapacity(nodes)
  }

  setWeights(weights: ReadonlyMap<string, number>): void {
    this.shares.clear()
    this.weights = weights
  }

  setHalfLife(halfLifeMs: number | null): void {
    this.shares.clear()
    this.past.halfLifeMs = halfLifeMs
  }

  change(account: string, placements: readonly Placement[], sign: 1 | -1): void {
    const before = this.used.get(account) ?? none
    this.past.settle(account, before)
    const left = added(before, sumAmounts(placements), sign)
    if (resources.some((resource) => left[resource] !== 0)) this.used.set(account, left)
    else this.used.delete(account)
    this.shares.delete(account)
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
    if (this.past.halfLifeMs === null) return used
    const past = this.past.of(account, used)
    const soon = (resource: keyof ResourceAmounts) => past[resource] * pastPart + used[resource] * (1 - pastPart)
    return { cpu: soon('cpu'), memory: soon('memory'), gpu: soon('gpu') }
  }

  occupancy(account: string, extra = none, without = none): Fraction {
    return this.partOf(account, added(added(this.used.get(account) ?? none, extra, 1), without, -1))
  }

  /** null: no half-life is configured, so past use does not count. */
  decayedUse(account: string): Fraction | null {
    if (this.past.halfLifeMs === null) return null
    return this.partOf(account, this.past.of(account, this.used.get(account) ?? none))
  }

  get decayedUses(): ReadonlyMap<string, ResourceAmounts> {
    if (this.past.halfLifeMs === null) return new Map()
    const accounts = [...this.past.accounts(this.used)]
    return new Map(accounts.map((account) => [account, this.past.of(account, this.used.get(account) ?? none)]))
  }

  /** There are a hundred ticks per half-life, but at most one per second. */
  get nextTickMs(): number | null {
    const { halfLifeMs } = this.past
    return halfLifeMs === null ? null : this.tickedMs + Math.max(1_000, halfLifeMs / 100)
  }

  due(): readonly string[] {
    const { nextTickMs, past } = this
    if (nextTickMs === null || past.nowMs < nextTickMs) return []
    this.tickedMs = past.nowMs
    return [...past.accounts(this.used)]
  }

  renew(account: string): void {
    this.shares.delete(account)
  }

  /** Counts a start; returns the function that undoes it. */
  serve(account: string, amounts: ResourceAmounts): () => void {
    const parts = resources.map((resource) =>
      this.capacity[resource] > 0 ? amounts[resource] / this.capacity[resource] : 0,
    )
    return this.service.serve(account, { size: Math.max(...parts), weight: this.weightOf(account) })
  }

  weightOf(account: string): number {
    return this.weights.get(account) ?? 1
  }

  isWithin(amounts: readonly ResourceAmounts[], part: number): boolean {
    return isWithinShare(amounts, this.capacity, part)
  }

  private partOf(account: string, amounts: ResourceAmounts): Fraction {
    const weight = inMillionths(this.weightOf(account))
    return resources
      .filter((resource) => this.capacity[resource] > 0 && amounts[resource] > 0)
      .map((resource) => ({ num: exactly(amounts[resource]), den: BigInt(this.capacity[resource]) * weight }))
      .reduce((a, b) => (compareFractions(a, b) < 0 ? b : a), nothing)
  }
}

/** The fraction of past use that remains after a tenth of a half-life. */
const pastPart = 2 ** -0.1

/** Converts to millionths; whole amounts stay exact. */
const exactly = (amount: number): bigint =>
  Number.isInteger(amount) ? BigInt(amount) * BigInt(millionths) : BigInt(Math.round(amount * millionths))
