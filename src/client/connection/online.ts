import type { Sleep } from './sleep.ts'

/** Source of `online` events: a page or worker of a browser. Other platforms have none. */
export type Network = Pick<EventTarget, 'addEventListener' | 'removeEventListener'>

export const platformNetwork: Network =
  'addEventListener' in globalThis
    ? (globalThis as unknown as Network)
    : { addEventListener: () => {}, removeEventListener: () => {} }

/** Sleeps, but ends early and returns true when the machine is online again. */
export async function sleepUntilOnline(
  { sleep, network }: { sleep: Sleep; network: Network },
  ms: number,
  signal: AbortSignal,
): Promise<boolean> {
  const online = new AbortController()
  const wake = () => online.abort()
  network.addEventListener('online', wake)
  try {
    await sleep(ms, AbortSignal.any([signal, online.signal]))
  } catch (error) {
    if (signal.aborted || !online.signal.aborted) throw error
  } finally {
    network.removeEventListener('online', wake)
  }
  return online.signal.aborted
}
