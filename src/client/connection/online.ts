import type { Sleep } from './sleep.ts'

/** What tells `online`: a page or a worker of a browser. Other platforms tell nothing. */
export type Network = Pick<EventTarget, 'addEventListener' | 'removeEventListener'>

export const platformNetwork: Network =
  'addEventListener' in globalThis
    ? (globalThis as unknown as Network)
    : { addEventListener: () => {}, removeEventListener: () => {} }

/** As `sleep`, but until the machine is in a network again at the latest; true: it ended for that. */
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
