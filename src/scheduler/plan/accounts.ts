import type { FreeNode, Placement } from '../../domain/machines/placement.ts'
import { DecayedUse } from './decayed-use.ts'
import { compareFractions, inMillionths, millionths, nothing } from './fractions.ts'
import type { Fraction, ResourceAmounts } from './model.ts'
import { ServiceOrder } from './service-order.ts'

export const resources = ['cpu', 'memory', 'gpu'] as const

export const none: ResourceAmounts = { cpu: 0, memory: 0, gpu: 0 }

export const amountsOf = (placements: readonly Placement[]): ResourceAmounts =>
  placements.reduce(
    (sum, { cpuMillis, memoryBytes, gpuIds }) => ({
      cpu: sum.cpu + cpuMillis,
      memory: sum.memory + memoryBytes,
      gpu: sum.gpu + gpuIds.length,
    }),
    none,
  )

export const added = (a: ResourceAmounts, b: ResourceAmounts, sign: 1 | -1): ResourceAmounts => ({
  cpu: a.cpu + sign * b.cpu,
  memory: a.memory + sign * b.memory,
  gpu: a.gpu + sign * b.gpu,
})

/**
 * What the accounts of a pool use, as a share of its healthy nodes without what others hold of them: the greatest part of
 * any resource, divided by the account's weight. A run that was asked to leave counts as gone, and the job that gets its
 * resources counts as running: so a preemption changes the occupancy at once.
 *
 * Jobs are ordered by the *share*: the occupancy of this moment or, with a half-life, the decayed use that the account will
 * have a tenth of a half-life from now if it holds as much until then. So a start counts at once, and the past counts most.
 * Shares are computed when the account changes and at each tick, and stay the same in between, as an order needs.
 */
export class Accounts {
  readonly service = new ServiceOrder()
  readonly past = new DecayedUse()
  /** When shares were last computed again because of the time alone. */
  private tickedMs = 0
  private capacity: ResourceAmounts = none
  private weights: ReadonlyMap<string, number> = new Map()
  private readonly used = new Map<string, ResourceAmounts>()
  private readonly shares = new Map<string, Fraction>()

  setCapacity(nodes: readonly FreeNode[]): void {
    this.shares.clear()
    const healthy = nodes.filter(({ state }) => state !== 'LOST')
    this.capacity = healthy.reduce(
      (sum, { cpuMillis, memoryBytes, devices, others }) =>
        added(
          added(sum, { cpu: cpuMillis, memory: memoryBytes, gpu: devices.length }, 1),
          others ? { cpu: others.cpuMillis, memory: others.memoryBytes, gpu: others.gpus.length } : none,
          -1,
        ),
      none,
    )
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
    const left = added(before, amountsOf(placements), sign)
    if (resources.some((resource) => left[resource] !== 0)) this.used.set(account, left)
    else this.used.delete(account)
    this.shares.delete(account)
  }

  /** By which jobs are ordered. */
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

  /** What the account holds now, with `extra` added and `without` removed. */
  occupancy(account: string, extra = none, without = none): Fraction {
    return this.partOf(account, added(added(this.used.get(account) ?? none, extra, 1), without, -1))
  }

  /** What the account held in the past; null: it does not count. */
  decayedUse(account: string): Fraction | null {
    if (this.past.halfLifeMs === null) return null
    return this.partOf(account, this.past.of(account, this.used.get(account) ?? none))
  }

  /** Shares change by the time alone only at ticks: a hundred in a half-life, and one in a second at most. */
  get nextTickMs(): number | null {
    const { halfLifeMs } = this.past
    return halfLifeMs === null ? null : this.tickedMs + Math.max(1_000, halfLifeMs / 100)
  }

  /** The accounts whose shares change now because of the time alone. */
  due(): readonly string[] {
    const { nextTickMs, past } = this
    if (nextTickMs === null || past.nowMs < nextTickMs) return []
    this.tickedMs = past.nowMs
    return [...past.accounts(this.used)]
  }

  /** The share is computed again. */
  renew(account: string): void {
    this.shares.delete(account)
  }

  weightOf(account: string): number {
    return this.weights.get(account) ?? 1
  }

  /** Whether these amounts together are at most this part of everything. */
  isWithin(amounts: readonly ResourceAmounts[], part: number): boolean {
    if (part >= 1) return true
    const sum = amounts.reduce((a, b) => added(a, b, 1), none)
    const millionths = part > 0 ? inMillionths(part) : 0n
    return resources.every(
      (resource) =>
        sum[resource] === 0 || BigInt(sum[resource]) * 1_000_000n <= millionths * BigInt(this.capacity[resource]),
    )
  }

  private partOf(account: string, amounts: ResourceAmounts): Fraction {
    const weight = inMillionths(this.weightOf(account))
    return resources
      .filter((resource) => this.capacity[resource] > 0 && amounts[resource] > 0)
      .map((resource) => ({ num: exactly(amounts[resource]), den: BigInt(this.capacity[resource]) * weight }))
      .reduce((a, b) => (compareFractions(a, b) < 0 ? b : a), nothing)
  }
}

/** What is left of the past after a tenth of a half-life. */
const pastPart = 2 ** -0.1

/** In millionths; whole amounts stay exact. */
const exactly = (amount: number): bigint =>
  Number.isInteger(amount) ? BigInt(amount) * BigInt(millionths) : BigInt(Math.round(amount * millionths))
