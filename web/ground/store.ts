import { useSyncExternalStore } from 'react'

/** Functions that are called after each change. */
export function createListeners() {
  const listeners = new Set<() => void>()
  return {
    /** The returned function removes the listener. */
    add(listener: () => void): () => void {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    call() {
      for (const listener of listeners) listener()
    },
    clear: () => listeners.clear(),
  }
}

/** A value that components read, and that changes outside of them. */
export function createStore<Value>(first: Value) {
  const listeners = createListeners()
  let value = first
  const read = () => value
  return {
    read,
    change(next: Value) {
      value = next
      listeners.call()
    },
    useValue: (): Value => useSyncExternalStore(listeners.add, read),
  }
}
