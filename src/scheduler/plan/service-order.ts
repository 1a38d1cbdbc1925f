/**
 * Whose turn it is among accounts with equal shares: the account that was served longest ago. Each start moves its
 * account back by one turn over its weight, so an account of weight 2 is served twice as often. An account that did not
 * wait for a while saves up no more than one turn of the pool.
 */
interface Served {
  /** The turn after its last start; turns are counted from the first start that is known. */
  turn: number
  /** The number of its last start. */
  start: number
}

const never: Served = { turn: 0, start: 0 }

export class ServiceOrder {
  private readonly served = new Map<string, Served>()
  private turn = 0
  private starts = 0

  /** Negative: `a` was served longer ago. */
  compare(a: string, b: string): number {
    const [one, other] = [this.served.get(a) ?? never, this.served.get(b) ?? never]
    return one.turn - other.turn || one.start - other.start
  }

  /** Served accounts, the one served longest ago first. */
  get accounts(): string[] {
    return [...this.served.keys()].toSorted((a, b) => this.compare(a, b))
  }

  /** Counts a start; returns the function that takes it back, if the account has not been served since. */
  serve(account: string, weight: number): () => void {
    const before = { served: this.served.get(account), turn: this.turn, starts: this.starts }
    const saved = Math.max(0, 1 - 1 / weight)
    const from = Math.max(this.turn - saved, before.served?.turn ?? 0)
    this.turn = Math.max(this.turn, from)
    this.starts += 1
    const start = this.starts
    this.served.set(account, { turn: from + 1 / weight, start })
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
