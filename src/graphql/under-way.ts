/** Begins work in the order in which it comes, at once as long as all that is under way costs no more than a maximum. */
export interface Bounded {
  run<Result>(cost: number, work: () => Result | Promise<Result>): Promise<Result>
  /** Nothing is under way or waits. */
  isIdle(): boolean
}

export function createBounded(costMax: number): Bounded {
  const waiting: { cost: number; begin: () => void }[] = []
  let members = 0
  let costUnderWay = 0

  /** What costs more than all may begins alone. */
  const fits = (cost: number) => costUnderWay === 0 || costUnderWay + cost <= costMax

  function beginNext() {
    for (let next = waiting[0]; next && fits(next.cost); next = waiting[0]) {
      waiting.shift()
      costUnderWay += next.cost
      next.begin()
    }
  }

  return {
    async run(cost, work) {
      members += 1
      if (waiting.length === 0 && fits(cost)) costUnderWay += cost
      else await new Promise<void>((begin) => waiting.push({ cost, begin }))
      try {
        return await work()
      } finally {
        members -= 1
        costUnderWay -= cost
        beginNext()
      }
    },
    isIdle: () => members === 0,
  }
}

/**
 * The requests of one user have a maximum together; further ones wait. Otherwise one user could keep the connections to the
 * database from all others and from the scheduler, with as many answers in memory as there are requests.
 */
export type UnderWay = <Result>(user: string, cost: number, work: () => Result | Promise<Result>) => Promise<Result>

export function createUnderWay(costMax: number): UnderWay {
  const users = new Map<string, Bounded>()
  return async (user, cost, work) => {
    const ofUser = users.get(user) ?? createBounded(costMax)
    users.set(user, ofUser)
    try {
      return await ofUser.run(cost, work)
    } finally {
      if (ofUser.isIdle()) users.delete(user)
    }
  }
}
