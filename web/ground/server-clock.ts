import { useSyncExternalStore } from 'react'

/** Difference to the clock of the server, because the clock of this machine may be hours off. */
let offsetMs = 0

export function setServerTime(time: string, { askedMs, answeredMs }: { askedMs: number; answeredMs: number }): void {
  offsetMs = Date.parse(time) - (askedMs + answeredMs) / 2
}

export const serverNowMs = (): number => Date.now() + offsetMs

/** Components that show the time. They share one timer, which stops while the page is hidden. */
const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined
let secondMs = 0

function tick() {
  if (document.hidden) return
  secondMs = Math.floor(serverNowMs() / 1_000) * 1_000
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  timer ??= setInterval(tick, 1_000)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

const readSecond = () => {
  if (secondMs === 0 || timer === undefined) secondMs = Math.floor(serverNowMs() / 1_000) * 1_000
  return secondMs
}

/** Returns the time of the server, and updates the component every second or in longer steps. */
export const useNow = (stepMs = 1_000): number =>
  useSyncExternalStore(subscribe, () => Math.floor(readSecond() / stepMs) * stepMs)
