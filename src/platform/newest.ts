import type { Clock } from './clock.ts'

/**
 * Writes each key at most once per pause: values that arrive during a write, or for `pauseMs` after it, are merged into
 * the next write. Each caller waits until its value is written.
 */

export interface NewestOptions<Value> {
  write(key: string, value: Value): Promise<void>
  merge(older: Value, newer: Value): Value
  pauseMs: number
  clock: Clock
}

export function createNewest<Value>(options: NewestOptions<Value>): (key: string, value: Value) => Promise<void> {
  const lines = new Map<string, Line<Value>>()

  async function work(key: string, line: Line<Value>) {
    for (let next = line.next; next; next = line.next) {
      line.next = null
      await options.write(key, next.value).then(next.resolve, next.reject)
      await options.clock.sleep(options.pauseMs)
    }
    lines.delete(key)
  }

  return (key, value) => {
    const line = lines.get(key)
    if (line?.next) {
      line.next.value = options.merge(line.next.value, value)
      return line.next.promise
    }
    const next = { value, ...Promise.withResolvers<void>() }
    if (line) line.next = next
    else {
      const fresh: Line<Value> = { next }
      lines.set(key, fresh)
      void work(key, fresh)
    }
    return next.promise
  }
}

interface Line<Value> {
  next: (PromiseWithResolvers<void> & { value: Value }) | null
}
