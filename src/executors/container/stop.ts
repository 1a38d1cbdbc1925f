import { readFile } from 'node:fs/promises'
import { uptime } from 'node:os'
import type { Clock } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import { RequestedStops } from '../backend/requested-stops.ts'
import { BackendRefused } from '../backend/unreachable.ts'
import type { Handle } from '../executor.ts'
import type { Containers } from './containers.ts'
import type { Engine } from './engine.ts'
import { parsePhase } from './observation.ts'

/** Sends TERM to the first process of a container, which passes it on (init.sh), and KILL after the grace. */

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
    // A container does not outlive its machine, and setting a clock does not change the time since its start.
    const nowMs = () => uptime() * 1000
    this.stops = new RequestedStops({ ...options, nowMs, kill: (handle) => this.#signal(handle, 'KILL') })
  }

  async stop(handle: Handle, graceMs: number): Promise<void> {
    const found = await this.#containers.find(handle)
    if (!found || parsePhase(found.State.Status) === 'over') return
    const [recorded] = await Promise.allSettled([this.stops.record(handle, graceMs)])
    if (graceMs > 0) await this.#terminate(handle, found.State.Pid)
    this.stops.planKill(handle, (await this.stops.leftMs(handle)) ?? graceMs)
    // A job that fills the disk is stopped nevertheless. The caller retries until the next server would know of the stop.
    if (recorded.status === 'rejected') throw recorded.reason
  }

  /** A first process without a child has no handler yet, and the kernel drops TERM. */
  async #terminate(handle: Handle, pid: number): Promise<void> {
    for (let waitedMs = 0; waitedMs < readyMsMax && (await hasNoChild(pid)); waitedMs += readyPollMs)
      await this.#clock.sleep(readyPollMs)
    await this.#signal(handle, 'TERM')
  }

  /** A paused container would not end. A container that is over cannot be signalled, which is not an error. */
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

/** false also for a process that is not visible here. */
async function hasNoChild(pid: number): Promise<boolean> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => null)
  return children === ''
}
