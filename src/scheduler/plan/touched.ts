import type { LaneWindow } from './lane-window.ts'
import { isAccount } from './share-tree.ts'

/** Collects keys of rows that may differ from the published rows, including removed rows; at first all rows. */
export class Touched {
  private isAll = true
  private lanes = new Set<string>()
  private accounts = new Set<string>()

  lane({ lane: { id }, path }: LaneWindow): void {
    if (this.isAll) return
    this.lanes.add(id)
    this.nodes(path)
  }

  nodes(path: readonly string[]): void {
    if (!this.isAll) for (const node of path) if (isAccount(node)) this.accounts.add(node)
  }

  everything(): void {
    this.isAll = true
    this.lanes = new Set()
    this.accounts = new Set()
  }

  /** Returns the rows that changed since the last call; null: all rows. */
  take(): { lanes: ReadonlySet<string>; accounts: ReadonlySet<string> } | null {
    const taken = this.isAll ? null : { lanes: this.lanes, accounts: this.accounts }
    this.everything()
    this.isAll = false
    return taken
  }
}
