import { reportSessions } from '../domain/control/session-reports.ts'
import {
  closeSession,
  type PortOfJob,
  type TakenSession,
  type TicketUse,
  takeTicket,
} from '../domain/control/sessions.ts'
import type { Domain } from '../domain/domain.ts'
import type { Executor } from '../executors/executor.ts'
import { createLoop, type Loop } from '../platform/loop.ts'
import { type LiveOptions, LiveSession } from './live-session.ts'
import { PortSession } from './port-session.ts'

const reportMs = 2_000
/** Maximum time that a stop waits for commands to be killed. */
const killMsMax = 1_000
const stoppingReason = 'The server is stopping'
const idleHoursMax = 4
const idleMsMax = idleHoursMax * 3_600_000

/** The executors of the pools whose runs this server reaches, by pool and name. */
export type ReachedPools = ReadonlyMap<string, ReadonlyMap<string, Executor>>

/** The sessions that this server holds. */
export class Sessions {
  readonly #domain: Domain
  readonly #pools: ReachedPools
  readonly #live = new Map<string, LiveSession | PortSession>()
  readonly #loop: Loop
  readonly #unlisten: () => void
  /** Session ends that are being stored. */
  readonly #ends = new Set<Promise<unknown>>()
  #closed: Promise<void> | undefined

  constructor(domain: Domain, pools: ReachedPools) {
    const { clock, log, wakeups } = domain
    this.#domain = domain
    this.#pools = pools
    this.#loop = createLoop({ name: 'sessions', pollMs: reportMs, runOnce: () => this.#report(), clock, log })
    this.#unlisten = wakeups.on('access', () => this.#loop.wake())
  }

  start(): void {
    this.#loop.start()
  }

  /** Finds the session of a WebSocket, if this server holds it. */
  find(id: string): LiveSession | undefined {
    const live = this.#live.get(id)
    return live instanceof LiveSession ? live : undefined
  }

  /** Begins the session of a ticket; null: the ticket is invalid, or the server is stopping. */
  begin(given: TicketUse): Promise<LiveSession | null> {
    return this.#begin(given, (options) => new LiveSession(options))
  }

  /** Like `begin`, for a port that this server reaches for a browser. */
  beginPort(given: TicketUse & { at: PortOfJob }): Promise<PortSession | null> {
    return this.#begin(given, (options) => new PortSession(options))
  }

  async #begin<Live extends LiveSession | PortSession>(
    given: TicketUse,
    create: (options: LiveOptions) => Live,
  ): Promise<Live | null> {
    if (this.#closed) return null
    const session = await takeTicket(this.#domain, given)
    if (!session) return null
    if (this.#closed) {
      this.#end({ bytesIn: 0, bytesOut: 0 }, session, { reason: stoppingReason, exitCode: null })
      return null
    }
    const { clock, log } = this.#domain
    const executor = this.#pools.get(session.pool)?.get(session.executor) ?? null
    const live = create({ session, executor, clock, log, onEnd: (end) => this.#end(live, session, end) })
    this.#live.set(session.id, live)
    return live
  }

  /** Ends all sessions. Their clients get the reason. */
  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  /** Closes the connections of sessions first, because the loop may wait for a database that does not respond. */
  async #close(): Promise<void> {
    this.#unlisten()
    const cuts = Promise.all(Array.from(this.#live.values(), (live) => live.cut(stoppingReason)))
    await Promise.race([cuts, this.#domain.clock.sleep(killMsMax)])
    await this.#loop.stop()
    await Promise.all(this.#ends)
  }

  async #report(): Promise<void> {
    for (const live of this.#live.values())
      if (live.idleMs > idleMsMax) live.end(`Nothing was typed or printed for ${idleHoursMax} hours`)
    if (this.#live.size === 0) return
    for (const id of await reportSessions(this.#domain, this.#live))
      this.#live.get(id)?.end('The session or its run was ended, or you lost access')
  }

  #end(
    { bytesIn, bytesOut }: Pick<PortSession, 'bytesIn' | 'bytesOut'>,
    session: TakenSession,
    end: { reason: string; exitCode: number | null },
  ): void {
    this.#live.delete(session.id)
    const stored = closeSession(this.#domain, session, { id: session.id, bytesIn, bytesOut, ...end })
      .catch((err: unknown) =>
        this.#domain.log.warn({ err, session: session.id }, 'the end of a session was not stored'),
      )
      .finally(() => this.#ends.delete(stored))
    this.#ends.add(stored)
  }
}
