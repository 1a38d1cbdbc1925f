import type { LaneWindow } from './lane-window.ts'

/** Collects the rows that may differ from the published ones, including removed rows; at first all rows. */
export class Touched {
  private isAll = true
  private lanes = new Set<string>()
  private accounts = new Set<string>()

  lane({ lane: { id, account } }: LaneWindow): void {
    if (this.isAll) return
    this.lanes.add(id)
    this.accounts.add(account)
  }

  account(name: string): void {
    if (!this.isAll) this.accounts.add(name)
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
