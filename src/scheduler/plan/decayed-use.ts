import type { ResourceAmounts } from '../../domain/machines/amounts.ts'

/**
 * The decayed use of each account: the mean of its use over all past time, where use one half-life ago counts half as
 * much as use now. Only changes are stored; the decay is computed on reading.
 */
interface Kept extends ResourceAmounts {
  atMs: number
}

const nothingBelow = 1e-6

export class DecayedUse {
  /** null: past use does not count. */
  halfLifeMs: number | null = null
  nowMs = 0
  private readonly kept = new Map<string, Kept>()

  of(account: string, held: ResourceAmounts): ResourceAmounts {
    const { halfLifeMs, nowMs } = this
    const before = this.kept.get(account)
    if (halfLifeMs === null || !before) return { cpu: 0, memory: 0, gpu: 0 }
    const left = 2 ** (-Math.max(0, nowMs - before.atMs) / halfLifeMs)
    const since = (past: number, now: number) => past * left + now * (1 - left)
    return {
      cpu: since(before.cpu, held.cpu),
      memory: since(before.memory, held.memory),
      gpu: since(before.gpu, held.gpu),
    }
  }

  /** Adds the use until now. Call this before the amounts that the account holds change. */
  settle(account: string, held: ResourceAmounts): void {
    if (this.halfLifeMs !== null) this.put(account, this.of(account, held))
  }

  put(account: string, use: ResourceAmounts): void {
    this.kept.set(account, { ...use, atMs: this.nowMs })
  }

  /** Drops accounts that have no runs and almost no decayed use. */
  accounts(held: ReadonlyMap<string, ResourceAmounts>): Iterable<string> {
    for (const account of this.kept.keys()) {
      if (held.has(account)) continue
      const { cpu, memory, gpu } = this.of(account, { cpu: 0, memory: 0, gpu: 0 })
      if (Math.max(cpu, memory, gpu) < nothingBelow) this.kept.delete(account)
    }
    return this.kept.keys()
  }
}
