/** A bound on what is held at once for each key: connections, subscriptions, bytes. */
export interface Cap {
  /** A portion of what the key may hold; it has nothing yet. */
  open(key: string): Portion
  /** One of what the key may hold, as the function that gives it back; null: nothing is left. */
  take(key: string): (() => void) | null
}

export interface Portion {
  /** false: that much is not left. */
  add(amount: number): boolean
  /** Gives back all of it. A second time changes nothing. */
  giveBack(): void
}

export function createCap(max: number): Cap {
  const taken = new Map<string, number>()

  function change(key: string, amount: number) {
    const now = (taken.get(key) ?? 0) + amount
    if (now > 0) taken.set(key, now)
    else taken.delete(key)
  }

  function open(key: string): Portion {
    let own = 0
    return {
      add(amount) {
        if ((taken.get(key) ?? 0) + amount > max) return false
        own += amount
        change(key, amount)
        return true
      },
      giveBack() {
        change(key, -own)
        own = 0
      },
    }
  }

  return {
    open,
    take(key) {
      const portion = open(key)
      return portion.add(1) ? portion.giveBack : null
    },
  }
}
