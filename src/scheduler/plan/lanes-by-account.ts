import type { LaneWindow } from './lane-window.ts'

export class LanesByAccount extends Map<string, LaneWindow> {
  readonly ofAccount = new Map<string, Set<LaneWindow>>()

  override set(id: string, window: LaneWindow): this {
    const { account } = window.lane
    this.ofAccount.set(account, (this.ofAccount.get(account) ?? new Set()).add(window))
    return super.set(id, window)
  }

  override delete(id: string): boolean {
    const window = this.get(id)
    if (!window) return false
    const { account } = window.lane
    const others = this.ofAccount.get(account)
    others?.delete(window)
    if (others?.size === 0) this.ofAccount.delete(account)
    return super.delete(id)
  }
}
