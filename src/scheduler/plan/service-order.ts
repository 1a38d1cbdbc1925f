/**
 * Orders accounts with equal shares by virtual time: the account that was served longest ago comes first. Each start
 * advances its account by the size of the job divided by the weight of the account, so accounts get equal parts even if
 * the sizes of their jobs differ. An idle account falls behind by at most the largest start.
 */
interface Served {
  /** Virtual time of the account after its last start. */
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

  /** Advances the account. Returns the function that undoes this, unless the account was served again since. */
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
