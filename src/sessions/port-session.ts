import { randomBytes } from 'node:crypto'
import type { Duplex } from 'node:stream'
import type { TakenSession } from '../domain/control/sessions.ts'
import { explainSessionFailure, findSessionMethod, type LiveOptions } from './live-session.ts'

/** Reason for the caller why a port was not reached. */
export class PortRefused extends Error {
  override name = 'PortRefused'
}

/** A session in which this server itself opens connections to the port, for requests of a browser. */
export class PortSession {
  readonly session: TakenSession
  /** The secret with which the same browser sends further requests. */
  readonly secret = randomBytes(32).toString('base64url')
  bytesIn = 0
  bytesOut = 0
  readonly #options: LiveOptions
  readonly #streams = new Set<Duplex>()
  readonly #over = Promise.withResolvers<void>()
  #activeMs: number
  #reason: string | null = null

  constructor(options: LiveOptions) {
    this.#options = options
    this.session = options.session
    this.#activeMs = options.clock.monotonicMs()
  }

  get over(): Promise<void> {
    return this.#over.promise
  }

  get idleMs(): number {
    return this.#options.clock.monotonicMs() - this.#activeMs
  }

  count(direction: 'IN' | 'OUT', bytes: number): void {
    this.#activeMs = this.#options.clock.monotonicMs()
    if (direction === 'IN') this.bytesIn += bytes
    else this.bytesOut += bytes
  }

  /** Opens a connection to the port, which ends with the session or earlier. */
  async connect(): Promise<Duplex> {
    const { handle, port } = this.session
    const stream = await findSessionMethod(this.#options, 'connect')(handle, port ?? 0).catch((error: unknown) => {
      throw new PortRefused(explainSessionFailure(this.#options, error), { cause: error })
    })
    if (this.#reason !== null) {
      stream.destroy()
      throw new PortRefused(this.#reason)
    }
    this.#streams.add(stream)
    // The request that uses the connection reports the error.
    stream.on('error', () => undefined).once('close', () => this.#streams.delete(stream))
    return stream
  }

  end(reason: string): void {
    if (this.#reason !== null) return
    this.#reason = reason
    for (const stream of this.#streams) stream.destroy()
    this.#over.resolve()
    this.#options.onEnd({ reason, exitCode: null })
  }

  async cut(reason: string): Promise<void> {
    this.end(reason)
  }
}
