/**
 * The requests of one user are carried out at once as long as they cost no more than `costMax` together; those that come
 * then wait for their turn. Otherwise one user could keep the connections to the database from all others and from the
 * scheduler, with as many answers in memory as there are requests.
 */
export interface UnderWay {
  /** Waits for the turn. Resolves to the function that ends it. */
  begin(user: string, cost: number): Promise<() => void>
}

interface Line {
  cost: number
  waiting: { cost: number; begin: () => void }[]
}

export function createUnderWay(costMax: number): UnderWay {
  const lines = new Map<string, Line>()

  /** One that costs more than all may begins alone. */
  const fits = (line: Line, cost: number) => line.cost === 0 || line.cost + cost <= costMax

  function beginNext(line: Line) {
    for (let next = line.waiting[0]; next && fits(line, next.cost); next = line.waiting[0]) {
      line.waiting.shift()
      line.cost += next.cost
      next.begin()
    }
  }

  return {
    async begin(user, cost) {
      const line = lines.get(user) ?? { cost: 0, waiting: [] }
      lines.set(user, line)
      await new Promise<void>((begin) => {
        line.waiting.push({ cost, begin })
        beginNext(line)
      })
      return () => {
        line.cost -= cost
        beginNext(line)
        // Requests without a cost may end later than their line.
        if (line.cost === 0 && line.waiting.length === 0 && lines.get(user) === line) lines.delete(user)
      }
    },
  }
}
