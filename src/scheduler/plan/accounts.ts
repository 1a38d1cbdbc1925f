import type { FreeNode, Placement } from '../../domain/machines/placement.ts'
import { compareFractions, inMillionths, nothing } from './fractions.ts'
import type { Fraction, ResourceAmounts } from './model.ts'

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
 * resources counts as running: so a preemption changes the shares at once.
 */
export class Accounts {
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

  change(account: string, placements: readonly Placement[], sign: 1 | -1): void {
    const left = added(this.used.get(account) ?? none, amountsOf(placements), sign)
    if (resources.some((resource) => left[resource] !== 0)) this.used.set(account, left)
    else this.used.delete(account)
    this.shares.delete(account)
  }

  share(account: string): Fraction {
    const used = this.used.get(account)
    if (!used) return nothing
    const known = this.shares.get(account)
    if (known) return known
    const share = this.shareOf(account, used)
    this.shares.set(account, share)
    return share
  }

  /** The account's share with `extra` added and `without` removed. */
  shareWith(account: string, extra: ResourceAmounts, without: ResourceAmounts): Fraction {
    const used = added(added(this.used.get(account) ?? none, extra, 1), without, -1)
    return this.shareOf(account, used)
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

  private shareOf(account: string, used: ResourceAmounts): Fraction {
    const weight = inMillionths(this.weightOf(account))
    return resources
      .filter((resource) => this.capacity[resource] > 0 && used[resource] > 0)
      .map((resource) => ({ num: BigInt(used[resource]) * 1_000_000n, den: BigInt(this.capacity[resource]) * weight }))
      .reduce((a, b) => (compareFractions(a, b) < 0 ? b : a), nothing)
  }
}
