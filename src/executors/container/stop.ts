import { readFile } from 'node:fs/promises'
import { uptime } from 'node:os'
import type { Clock } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import { RequestedStops } from '../backend/requested-stops.ts'
import { BackendRefused } from '../backend/unreachable.ts'
import type { Handle } from '../executor.ts'
import type { Containers } from './containers.ts'
import type { Engine } from './engine.ts'
import { isLostWithMachine, isUnstarted, parsePhase } from './observation.ts'

/** Sends TERM to the first process of a container, which passes it on (init.sh), and KILL after the grace period. */

/** Maximum wait until the first process of a container can take signals. */
const readyMsMax = 2_000
const readyPollMs = 20

interface StopperOptions {
  engine: Engine
  containers: Containers
  directory: string
  clock: Clock
  log: Log
  closing: AbortSignal
}

export class ContainerStopper {
  readonly stops: RequestedStops
  readonly #engine: Engine
  readonly #containers: Containers
  readonly #clock: Clock

  constructor({ engine, containers, ...options }: StopperOptions) {
    this.#engine = engine
    this.#containers = containers
    this.#clock = options.clock
    // Uses the uptime: a container does not outlive its machine, and setting a clock does not change the uptime.
    const nowMs = () => uptime() * 1000
    this.stops = new RequestedStops({ ...options, nowMs, kill: (handle) => this.#signal(handle, 'KILL') })
  }

  async stop(handle: Handle, graceMs: number): Promise<void> {
    const found = await this.#containers.find(handle)
    if (!found || parsePhase(found.State.Status) === 'over' || isLostWithMachine(found)) return
    if (isUnstarted(found) && (await this.#containers.removeUnstarted(handle))) return
    const [recorded] = await Promise.allSettled([this.stops.record(handle, graceMs)])
    if (graceMs > 0) await this.#terminate(handle, found.State.Pid)
    this.stops.planKill(handle, (await this.stops.leftMs(handle)) ?? graceMs)
    // Stops the container even if the stop cannot be stored, because a job may fill the disk. Then throws, so that the
    // caller retries until the stop is stored for the next server.
    if (recorded.status === 'rejected') throw recorded.reason
  }

  /** Waits until the first process has a child. Before that it has no signal handler, and the kernel drops TERM. */
  async #terminate(handle: Handle, pid: number): Promise<void> {
    for (let waitedMs = 0; waitedMs < readyMsMax && (await hasNoChild(pid)); waitedMs += readyPollMs)
      await this.#clock.sleep(readyPollMs)
    await this.#signal(handle, 'TERM')
  }

  /**
   * Sends a signal. Unpauses the container first, because a paused one would not end. Ignores that the container is
   * already over.
   */
  async #signal(handle: Handle, signal: 'TERM' | 'KILL'): Promise<void> {
    const present = await this.#containers.find(handle)
    if (present?.State.Status === 'paused') await this.#engine.post(`/containers/${handle}/unpause`)
    try {
      await this.#engine.post(`/containers/${handle}/kill`, { signal })
    } catch (error) {
      if (!(error instanceof BackendRefused)) throw error
      const found = await this.#containers.find(handle)
      if (found && parsePhase(found.State.Status) !== 'over') throw error
    }
  }
}

/** true: the process is visible and has no child. */
async function hasNoChild(pid: number): Promise<boolean> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => null)
  return children === ''
}
