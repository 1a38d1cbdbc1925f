export interface Wait {
  msMax: number
  refusal: () => Error
}

export interface Share {
  /** Adds to the amount of the holder; false: the limit would be exceeded. */
  add(amount: number): boolean
  /** Releases the amount. A second call does nothing. */
  release(): void
}

interface Turn {
  amount: number
  begin: () => void
}

interface Usage {
  held: number
  readonly waiting: Turn[]
  /** Functions that evict one holder each, oldest first. */
  readonly evictions: Set<() => void>
}

/**
 * Limits the amount that each key (a user, an address) holds at the same time: connections, bytes, cost in flight.
 * Above the maximum, a request is refused (`open`, `tryAcquire`), waits (`run`), or evicts the oldest holder
 * (`acquireByEviction`).
 */
export class KeyedLimit {
  readonly #max: number
  readonly #wait: Wait | undefined
  readonly #usages = new Map<string, Usage>()

  constructor(max: number, wait?: Wait) {
    this.#max = max
    this.#wait = wait
  }

  open(key: string): Share {
    let own = 0
    return {
      add: (amount) => {
        if ((this.#usages.get(key)?.held ?? 0) + amount > this.#max) return false
        own += amount
        this.#hold(key, amount)
        return true
      },
      release: () => {
        this.#hold(key, -own)
        own = 0
      },
    }
  }

  /** Acquires 1. Returns the function that releases it; null: the maximum is reached. */
  tryAcquire(key: string): (() => void) | null {
    const share = this.open(key)
    return share.add(1) ? share.release : null
  }

  /** Acquires 1, and evicts the oldest holder at the maximum. Returns the function that releases it. */
  acquireByEviction(key: string, evict: () => void): () => void {
    const { held = 0, evictions: [evictOldest] = [] } = this.#usages.get(key) ?? {}
    if (held >= this.#max) evictOldest?.()
    const { evictions } = this.#hold(key, 1)
    const evictThis = () => {
      leave()
      evict()
    }
    const leave = () => {
      if (evictions.delete(evictThis)) this.#hold(key, -1)
    }
    evictions.add(evictThis)
    return leave
  }

  /** Runs `work` when `amount` fits, in order of arrival. Work with an amount above the maximum runs alone. */
  async run<Result>(key: string, amount: number, work: () => Result | Promise<Result>): Promise<Result> {
    const usage = this.#usages.get(key)
    if (usage && (usage.waiting.length > 0 || !this.#fits(usage, amount))) await this.#waitForTurn(usage, key, amount)
    else this.#hold(key, amount)
    try {
      return await work()
    } finally {
      this.#hold(key, -amount)
    }
  }

  #fits({ held }: Usage, amount: number): boolean {
    return held === 0 || held + amount <= this.#max
  }

  #waitForTurn(usage: Usage, key: string, amount: number): Promise<void> {
    const wait = this.#wait
    return new Promise((resolve, reject) => {
      const turn: Turn = { amount, begin: resolve }
      usage.waiting.push(turn)
      if (!wait) return
      const timer = setTimeout(() => {
        usage.waiting.splice(usage.waiting.indexOf(turn), 1)
        reject(wait.refusal())
        this.#hold(key, 0)
      }, wait.msMax)
      turn.begin = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  /** Changes the held amount, and starts waiting work that now fits. */
  #hold(key: string, amount: number): Usage {
    const usage = this.#usages.get(key) ?? { held: 0, waiting: [], evictions: new Set() }
    usage.held += amount
    for (let [next] = usage.waiting; next && this.#fits(usage, next.amount); [next] = usage.waiting) {
      usage.waiting.shift()
      usage.held += next.amount
      next.begin()
    }
    if (usage.held > 0 || usage.waiting.length > 0) this.#usages.set(key, usage)
    else this.#usages.delete(key)
    return usage
  }
}
