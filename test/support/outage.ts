import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import type { TestDatabase } from './database.ts'
import { until } from './until.ts'

/**
 * Runs `work` during an outage: statements on the tables wait for a lock, and their connections are terminated. After
 * `failures` of them the lock is released, so that `work` can finish.
 */
export const runDuringOutage = <T>(
  database: Pick<TestDatabase, 'db'>,
  { tables, failures }: { tables: string; failures: number },
  work: () => Promise<T>,
): Promise<T> => failLockWaits(database, { lock: `LOCK TABLE ${tables} IN ACCESS EXCLUSIVE MODE`, failures }, work)

/** Like `runDuringOutage`, for statements that wait for this lock. */
export async function failLockWaits<T>(
  { db }: Pick<TestDatabase, 'db'>,
  { lock, failures }: { lock: string; failures: number },
  work: () => Promise<T>,
): Promise<T> {
  const client = await db.pool.connect()
  try {
    // On a busy machine `work` takes longer than the limit for idle transactions.
    const begin = 'BEGIN; SET LOCAL idle_in_transaction_session_timeout TO 0'
    await client.query(`${begin}; ${lock}`)
    const result = work()
    let failed = 0
    // Not in the transaction, where pg_stat_activity would not change.
    await until(
      async () => {
        const { rowCount } = await db.pool.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        )
        failed += rowCount ?? 0
        return failed >= failures
      },
      { what: `${failures} statements that wait for ${lock} have failed` },
    )
    await client.query('ROLLBACK')
    return await result
  } finally {
    client.release(true)
  }
}

/** A connection: two sockets, and whether it carries data. */
interface Passage {
  readonly sockets: readonly [near: Socket, far: Socket]
  stranded: boolean
}

/** A TCP proxy in front of PostgreSQL that imitates faults of networks. Data is dropped silently. */
export class Door {
  readonly #target: URL
  readonly #passages = new Set<Passage>()
  readonly #proxy: Server
  #port = 0
  #isFrozen = false
  #delayMs = 0

  constructor(databaseUrl: string) {
    this.#target = new URL(databaseUrl)
    this.#proxy = createServer((near) => this.#accept(near))
  }

  /** The address of the database through the proxy. */
  get url(): string {
    return Object.assign(new URL(this.#target), { port: String(this.#port) }).href
  }

  async open(): Promise<void> {
    this.#proxy.listen(this.#port, '127.0.0.1')
    await once(this.#proxy, 'listening')
    const address = this.#proxy.address()
    this.#port = typeof address === 'object' && address !== null ? address.port : 0
  }

  /** Breaks connections and refuses new ones. */
  async shut(): Promise<void> {
    const closed = once(this.#proxy, 'close')
    this.#proxy.close()
    for (const passage of this.#passages) this.#end(passage)
    await closed
  }

  /** Passes no data in either direction until `thaw`. */
  freeze(): void {
    this.#isFrozen = true
    for (const { sockets } of this.#passages) for (const socket of sockets) socket.pause()
  }

  thaw(): void {
    this.#isFrozen = false
    for (const passage of this.#passages) {
      if (passage.stranded) continue
      if (passage.sockets.some(({ destroyed }) => destroyed)) this.#end(passage)
      else for (const socket of passage.sockets) socket.resume()
    }
  }

  /** Existing connections stay open but carry no more data; new ones work (a failover). */
  strand(): void {
    for (const passage of this.#passages) {
      passage.stranded = true
      for (const socket of passage.sockets) socket.pause()
    }
  }

  /** Breaks every connection by RST; new ones work. */
  reset(): void {
    for (const { sockets } of this.#passages) for (const socket of sockets) socket.resetAndDestroy()
  }

  /** Delays every piece by this time. */
  slow(ms: number): void {
    this.#delayMs = ms
  }

  #accept(near: Socket): void {
    const far = connect(Number(this.#target.port), this.#target.hostname)
    const passage: Passage = { sockets: [near, far], stranded: false }
    this.#passages.add(passage)
    this.#join(passage, near, far)
    this.#join(passage, far, near)
    if (this.#isFrozen) for (const socket of passage.sockets) socket.pause()
  }

  #join(passage: Passage, from: Socket, to: Socket): void {
    // A write after the other side has closed fails.
    from.on('error', () => undefined)
    from.on('data', (piece) => {
      if (this.#delayMs === 0) to.write(piece)
      else setTimeout(() => to.write(piece), this.#delayMs)
    })
    from.once('close', () => {
      if (!this.#isFrozen && !passage.stranded) this.#end(passage)
    })
  }

  #end(passage: Passage): void {
    this.#passages.delete(passage)
    for (const socket of passage.sockets) socket.destroy()
  }
}

export async function createDoor(databaseUrl: string): Promise<Door> {
  const door = new Door(databaseUrl)
  await door.open()
  return door
}
