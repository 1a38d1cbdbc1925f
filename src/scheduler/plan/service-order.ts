/**
 * Orders siblings in the tree of shares by virtual time, if their shares are equal: the node served longest ago comes
 * first. Each start advances a node by the size of the job divided by the weight of the node, so siblings get equal
 * parts even if the sizes of their jobs differ. An idle node falls behind by at most the largest start.
 */
interface Served {
  /** Virtual time of the node after its last start. */
  turn: number
  start: number
}

/** The nodes that are directly below the same node. */
interface Siblings {
  turn: number
  starts: number
  largest: number
}

const never: Served = { turn: 0, start: 0 }

export class ServiceOrder {
  private readonly served = new Map<string, Served>()
  private readonly siblings = new Map<string, Siblings>()

  compare(a: string, b: string): number {
    const [one, other] = [this.served.get(a) ?? never, this.served.get(b) ?? never]
    return one.turn - other.turn || one.start - other.start
  }

  get nodes(): string[] {
    return [...this.served.keys()]
  }

  /** Advances the node. Returns a function that undoes this, unless the node was served again since. */
  serve(node: string, { above, size, weight }: { above: string; size: number; weight: number }): () => void {
    const siblings = this.siblings.get(above) ?? { turn: 0, starts: 0, largest: 0 }
    this.siblings.set(above, siblings)
    const before = { served: this.served.get(node), turn: siblings.turn, starts: siblings.starts }
    siblings.largest = Math.max(siblings.largest, size)
    const from = Math.max(siblings.turn - siblings.largest, before.served?.turn ?? 0)
    siblings.turn = Math.max(siblings.turn, from)
    siblings.starts += 1
    const start = siblings.starts
    this.served.set(node, { turn: from + size / weight, start })
    return () => {
      if (this.served.get(node)?.start === start) {
        if (before.served) this.served.set(node, before.served)
        else this.served.delete(node)
      }
      if (siblings.starts !== start) return
      siblings.turn = before.turn
      siblings.starts = before.starts
    }
  }
}
