/** Begins work in the order in which it comes, at once as long as all work in flight costs no more than a maximum. */
export interface Bounded {
  run<Result>(cost: number, work: () => Result | Promise<Result>): Promise<Result>
  /** Nothing is in flight or waits. */
  isIdle(): boolean
}

/** Work that waits longer than this is not begun. */
export interface Wait {
  msMax: number
  refusal: () => Error
}

interface Waiting {
  cost: number
  begin: () => void
}

export function createBounded(costMax: number, wait?: Wait): Bounded {
  const waiting: Waiting[] = []
  let members = 0
  let costInFlight = 0

  /** Work that costs more than the maximum begins alone. */
  const fits = (cost: number) => costInFlight === 0 || costInFlight + cost <= costMax

  function beginNext() {
    for (let next = waiting[0]; next && fits(next.cost); next = waiting[0]) {
      waiting.shift()
      costInFlight += next.cost
      next.begin()
    }
  }

  const waitForTurn = (cost: number) =>
    new Promise<void>((resolve, reject) => {
      const turn: Waiting = { cost, begin: resolve }
      waiting.push(turn)
      if (!wait) return
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(turn), 1)
        reject(wait.refusal())
        beginNext()
      }, wait.msMax)
      turn.begin = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  async function carryOut<Result>(cost: number, work: () => Result | Promise<Result>): Promise<Result> {
    if (waiting.length === 0 && fits(cost)) costInFlight += cost
    else await waitForTurn(cost)
    try {
      return await work()
    } finally {
      costInFlight -= cost
      beginNext()
    }
  }

  return {
    run(cost, work) {
      members += 1
      return carryOut(cost, work).finally(() => {
        members -= 1
      })
    },
    isIdle: () => members === 0,
  }
}

/**
 * The requests of one user have a maximum together; further ones wait. Otherwise one user could keep the connections to the
 * database from all others and from the scheduler, with as many answers in memory as there are requests.
 */
export type UnderWay = <Result>(user: string, cost: number, work: () => Result | Promise<Result>) => Promise<Result>

export function createUnderWay(costMax: number, wait?: Wait): UnderWay {
  const users = new Map<string, Bounded>()
  return async (user, cost, work) => {
    const ofUser = users.get(user) ?? createBounded(costMax, wait)
    users.set(user, ofUser)
    try {
      return await ofUser.run(cost, work)
    } finally {
      if (ofUser.isIdle()) users.delete(user)
    }
  }
}
