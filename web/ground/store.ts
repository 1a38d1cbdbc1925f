import { useSyncExternalStore } from 'react'

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

/** A value outside of React that components can subscribe to. */
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
