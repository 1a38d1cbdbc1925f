import type { LaneWindow } from './lane-window.ts'

/**
 * What may differ from what readers were shown last, by name, so that what went away is told as well. Before the first
 * call, and after a change that concerns every lane, all of it may.
 */
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

  /** Since the last call; null: all. */
  take(): { lanes: ReadonlySet<string>; accounts: ReadonlySet<string> } | null {
    const taken = this.isAll ? null : { lanes: this.lanes, accounts: this.accounts }
    this.everything()
    this.isAll = false
    return taken
  }
}
