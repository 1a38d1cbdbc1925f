import type { LaneWindow } from './lane-window.ts'

export class LanesByAccount extends Map<string, LaneWindow> {
  readonly ofAccount = new Map<string, Set<LaneWindow>>()
  /** By node: the nodes directly below it that have lanes. '' is above the highest accounts. */
  readonly below = new Map<string, Set<string>>()

  override set(id: string, window: LaneWindow): this {
    for (const [depth, node] of window.path.entries()) {
      this.ofAccount.set(node, (this.ofAccount.get(node) ?? new Set()).add(window))
      const above = window.path[depth - 1] ?? ''
      this.below.set(above, (this.below.get(above) ?? new Set()).add(node))
    }
    return super.set(id, window)
  }

  override delete(id: string): boolean {
    const window = this.get(id)
    if (!window) return false
    for (const [depth, node] of window.path.entries()) {
      const others = this.ofAccount.get(node)
      others?.delete(window)
      if (others?.size !== 0) continue
      this.ofAccount.delete(node)
      this.below.get(window.path[depth - 1] ?? '')?.delete(node)
    }
    return super.delete(id)
  }
}
