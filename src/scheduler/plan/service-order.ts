/**
 * Turns of accounts with equal shares: the account that was served longest ago is first. Each start moves its account
 * back by the size of the job over the weight of the account. So accounts get equal parts also with jobs of different
 * sizes. An idle account saves up at most the largest start.
 */
interface Served {
  /** The turn after the last start. */
  turn: number
  start: number
}

const never: Served = { turn: 0, start: 0 }

export class ServiceOrder {
  private readonly served = new Map<string, Served>()
  private turn = 0
  private starts = 0
  private largest = 0

  /** Negative: `a` was served longer ago. */
  compare(a: string, b: string): number {
    const [one, other] = [this.served.get(a) ?? never, this.served.get(b) ?? never]
    return one.turn - other.turn || one.start - other.start
  }

  get accounts(): string[] {
    return [...this.served.keys()].toSorted((a, b) => this.compare(a, b))
  }

  /** Returns the function that undoes the start, unless the account was served since. */
  serve(account: string, { size, weight }: { size: number; weight: number }): () => void {
    const before = { served: this.served.get(account), turn: this.turn, starts: this.starts }
    this.largest = Math.max(this.largest, size)
    const from = Math.max(this.turn - this.largest, before.served?.turn ?? 0)
    this.turn = Math.max(this.turn, from)
    this.starts += 1
    const start = this.starts
    this.served.set(account, { turn: from + size / weight, start })
    return () => {
      if (this.served.get(account)?.start === start) {
        if (before.served) this.served.set(account, before.served)
        else this.served.delete(account)
      }
      if (this.starts !== start) return
      this.turn = before.turn
      this.starts = before.starts
    }
  }
}
