import { useSyncExternalStore } from 'react'

/** The clock of the server: the clock of this machine may be hours off. */
let offsetMs = 0

export function setServerTime(time: string, { askedMs, answeredMs }: { askedMs: number; answeredMs: number }): void {
  offsetMs = Date.parse(time) - (askedMs + answeredMs) / 2
}

export const serverNowMs = (): number => Date.now() + offsetMs

/** One timer for the page, which stops while nobody looks. */
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

/** The time of the server, which moves on every second, or in longer steps. */
export const useNow = (stepMs = 1_000): number =>
  useSyncExternalStore(subscribe, () => Math.floor(readSecond() / stepMs) * stepMs)
