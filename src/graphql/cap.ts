/**
 * A bound on what is open at once for each key. The caller gives each place back exactly once, by the function it got.
 */
export interface Cap {
  /** null: there is no place left for this key. */
  take(key: string): (() => void) | null
}

export function createCap(max: number): Cap {
  const taken = new Map<string, number>()

  function giveBack(key: string) {
    const left = (taken.get(key) ?? 0) - 1
    if (left > 0) taken.set(key, left)
    else taken.delete(key)
  }

  return {
    take(key) {
      const now = taken.get(key) ?? 0
      if (now >= max) return null
      taken.set(key, now + 1)
      let held = true
      return () => {
        if (held) giveBack(key)
        held = false
      }
    },
  }
}
