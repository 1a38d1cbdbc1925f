import { randomBytes } from 'node:crypto'
import type { Readable, Writable } from 'node:stream'
import { decodeText, type Kind, kinds, payloadBytesMax } from '../client/channel/frames.ts'
import type { TakenSession } from '../domain/control/sessions.ts'
import { type ExecProcess, type Executor, SessionRefused, type TerminalSize } from '../executors/executor.ts'
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { Line } from './line.ts'

/** Maximum number of simultaneous connections to a forwarded port. */
const connectionsMax = 64
/** A client opens lines in parallel, so a number may arrive after this many higher ones. */
const lateLinesMax = 1_024
/** Time in which the client of an ended session can receive the reason. */
const farewellMs = 2_000

export interface LiveOptions {
  session: TakenSession
  executor: Executor | null
  clock: Clock
  log: Log
  onEnd: (end: { reason: string; exitCode: number | null }) => void
}

/**
 * A session that this server holds. Line 0 carries the command; in a forward it carries nothing, and each further line
 * carries one connection to the port. The session is over when line 0 is.
 */
export class LiveSession {
  readonly session: TakenSession
  /** The secret with which the client reconnects and opens further lines. */
  readonly secret = randomBytes(32).toString('base64url')
  bytesIn = 0
  bytesOut = 0
  readonly #options: LiveOptions
  readonly #lines = new Map<number, Line>()
  /** Numbers of opened lines, the newest `lateLinesMax`. No line is opened twice. */
  readonly #opened = new Set<number>()
  #newestLine = 0
  #activeMs: number
  #process: ExecProcess | null = null
  #ending: Promise<void> | void = undefined
  #wantedSize: TerminalSize | null = null
  #isResizing = false
  #exitCode: number | null = null
  #reason: string | null = null
  #isOver = false
  readonly #inputReady = Promise.withResolvers<ExecProcess | null>()
  readonly #over = Promise.withResolvers<void>()

  constructor(options: LiveOptions) {
    this.#options = options
    this.session = options.session
    this.#activeMs = options.clock.monotonicMs()
    const line = this.#openLine(0, {
      take: (kind, payload) => this.#takeInput(kind, payload),
      onEnd: (reason) => this.#finish(reason),
    })
    if (this.session.port === null) void this.#runCommand(line)
  }

  /** Resolves when the session has ended. */
  get over(): Promise<void> {
    return this.#over.promise
  }

  get idleMs(): number {
    return this.#options.clock.monotonicMs() - this.#activeMs
  }

  /**
   * Finds the line with this number, or opens a connection to the port for a new number; null: the line has ended, or
   * there are too many.
   */
  findLine(number: number): Line | null {
    const line = this.#lines.get(number)
    const { port } = this.session
    const wasOpened = this.#opened.has(number) || number <= Math.max(0, this.#newestLine - lateLinesMax)
    if (line || port === null || wasOpened) return line ?? null
    if (this.#isOver || this.#reason !== null || this.#lines.size > connectionsMax) return null
    this.#newestLine = Math.max(number, this.#newestLine)
    this.#opened.add(number)
    for (const each of this.#opened) if (each <= this.#newestLine - lateLinesMax) this.#opened.delete(each)
    return this.#connect(number, port)
  }

  /** Ends the session, and sends the reason to its client. */
  end(reason: string): void {
    if (this.#reason !== null) return
    this.#reason = reason
    this.#endProcess()
    for (const line of this.#lines.values()) line.finish(null, reason)
    void this.#options.clock.sleep(farewellMs).then(() => void this.cut(reason))
  }

  /** Ends the session without waiting for its client. Resolves when the command is killed. */
  async cut(reason: string): Promise<void> {
    this.#reason ??= reason
    this.#endProcess()
    for (const line of this.#lines.values()) line.end(reason)
    await this.#ending
  }

  #endProcess(): void {
    this.#ending ??= this.#process?.end()
  }

  #openLine(number: number, { take, onEnd }: Pick<ConstructorParameters<typeof Line>[0], 'take' | 'onEnd'>): Line {
    const line = new Line({
      clock: this.#options.clock,
      secret: this.secret,
      take: (kind, payload) => {
        this.#activeMs = this.#options.clock.monotonicMs()
        if (this.#reason !== null) return
        if (kind === kinds.stdin) this.bytesIn += payload.length
        return take(kind, payload)
      },
      onEnd: (reason) => {
        this.#lines.delete(number)
        onEnd(reason)
      },
    })
    this.#lines.set(number, line)
    return line
  }

  #finish(reason: string | null): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#over.resolve()
    this.#endProcess()
    for (const line of this.#lines.values()) line.end(reason)
    this.#options.onEnd({ reason: this.#reason ?? reason ?? 'The command has ended', exitCode: this.#exitCode })
  }

  async #runCommand(line: Line): Promise<void> {
    try {
      const { command, columns, rows, handle, unixUser } = this.session
      const size = columns === null || rows === null ? null : { columns, rows }
      const process = await findSessionMethod(this.#options, 'exec')(handle, { command, size, unixUser })
      this.#process = process
      if (this.#isOver || this.#reason !== null) this.#endProcess()
      const { stdout, stderr } = process
      const sent = [this.#pump(stdout, line, kinds.stdout), stderr && this.#pump(stderr, line, kinds.stderr)]
      this.#inputReady.resolve(process)
      await Promise.all(sent)
      this.#exitCode = await process.exitCode
      line.finish(this.#exitCode, this.#reason)
    } catch (error) {
      this.#inputReady.resolve(null)
      line.finish(null, explainSessionFailure(this.#options, error))
    }
  }

  async #takeInput(kind: number, payload: Uint8Array): Promise<void> {
    const process = await this.#inputReady.promise
    if (!process) return
    if (kind === kinds.stdin) await write(process.stdin, payload)
    else if (kind === kinds.eof) process.stdin.end()
    else if (kind === kinds.signal) await process.signal(decodeText(payload))
    else if (kind === kinds.resize) {
      const size = JSON.parse(decodeText(payload)) as TerminalSize
      if ([size.columns, size.rows].every((edge) => Number.isInteger(edge) && edge > 0 && edge < 10_000))
        void this.#resize(process, size)
    }
  }

  /** Sets one size at a time. Of the sizes that arrive meanwhile, only the newest is set. */
  async #resize(process: ExecProcess, size: TerminalSize): Promise<void> {
    this.#wantedSize = size
    if (this.#isResizing) return
    this.#isResizing = true
    for (let next = this.#takeSize(); next; next = this.#takeSize()) await process.resize(next)
    this.#isResizing = false
  }

  #takeSize(): TerminalSize | null {
    const size = this.#wantedSize
    this.#wantedSize = null
    return size
  }

  #connect(number: number, port: number): Line {
    const opened = findSessionMethod(this.#options, 'connect')(this.session.handle, port)
    const line = this.#openLine(number, {
      take: async (kind, payload) => {
        const socket = await opened.catch(() => null)
        if (kind === kinds.stdin && socket) await write(socket, payload)
        if (kind === kinds.eof) socket?.end()
      },
      onEnd: () => void opened.then((socket) => socket.destroy()).catch(() => undefined),
    })
    const carry = async () => {
      const socket = await opened
      // The pump reports an error.
      socket.on('error', () => undefined)
      const closed = new Promise((resolve) => socket.once('close', resolve))
      await this.#pump(socket, line, kinds.stdout)
      await line.send(kinds.eof)
      await closed
    }
    carry().then(
      () => line.finish(0, null),
      (error: unknown) => line.finish(null, explainSessionFailure(this.#options, error)),
    )
    return line
  }

  async #pump(from: Readable, line: Line, kind: Kind): Promise<void> {
    // Without destruction at its end, because a socket may still be written to.
    for await (const chunk of from.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>)
      for (let at = 0; at < chunk.length; at += payloadBytesMax) {
        const payload = chunk.subarray(at, at + payloadBytesMax)
        this.bytesOut += payload.length
        this.#activeMs = this.#options.clock.monotonicMs()
        await line.send(kind, payload)
      }
  }
}

/** Returns the method of the executor, which rejects if this server does not reach the pool. */
export function findSessionMethod<Verb extends 'exec' | 'connect'>(
  { session, executor }: Pick<LiveOptions, 'session' | 'executor'>,
  verb: Verb,
): NonNullable<Executor[Verb]> {
  const method = executor?.[verb]
  if (executor && method) return method.bind(executor) as NonNullable<Executor[Verb]>
  const refuse = () =>
    Promise.reject(new SessionRefused(`This server does not reach the jobs of the pool ${session.pool}`))
  return refuse as unknown as NonNullable<Executor[Verb]>
}

export function explainSessionFailure({ session, log }: Pick<LiveOptions, 'session' | 'log'>, error: unknown): string {
  if (error instanceof SessionRefused) return error.message
  log.warn({ err: error, session: session.id }, 'a session failed')
  return `The session failed: ${error instanceof Error ? error.message : error}`
}

/** Waits until the stream has accepted the bytes. Drops bytes for a command that no longer reads. */
async function write(stream: Writable, payload: Uint8Array): Promise<void> {
  if (stream.destroyed || stream.writableEnded) return
  if (stream.write(payload)) return
  await new Promise<void>((resolve) => {
    const go = () => {
      stream.off('drain', go).off('close', go)
      resolve()
    }
    stream.once('drain', go).once('close', go)
  })
}
