import type { LaneWindow } from './lane-window.ts'

/** Rows that may differ from those that readers see, including removed ones; at first all rows. */
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

  /** Changes since the last call; null: everything. */
  take(): { lanes: ReadonlySet<string>; accounts: ReadonlySet<string> } | null {
    const taken = this.isAll ? null : { lanes: this.lanes, accounts: this.accounts }
    this.everything()
    this.isAll = false
    return taken
  }
}
