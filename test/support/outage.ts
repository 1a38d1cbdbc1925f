import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import type { TestDatabase } from './database.ts'
import { until } from './until.ts'

/**
 * Runs `work` in an outage: statements on the tables wait for a lock, and their connections are terminated meanwhile.
 * After `failures` of them the tables are free again and the work can finish.
 */
export async function inOutage<T>(
  { db }: Pick<TestDatabase, 'db'>,
  { tables, failures }: { tables: string; failures: number },
  work: () => Promise<T>,
): Promise<T> {
  const client = await db.pool.connect()
  try {
    // On a busy machine the work takes longer than an idle transaction may.
    const begin = 'BEGIN; SET LOCAL idle_in_transaction_session_timeout TO 0'
    await client.query(`${begin}; LOCK TABLE ${tables} IN ACCESS EXCLUSIVE MODE`)
    const result = work()
    let failed = 0
    // Outside the transaction: inside, the view of waiting sessions would not change.
    await until(
      async () => {
        const { rowCount } = await db.pool.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        )
        failed += rowCount ?? 0
        return failed >= failures
      },
      { what: `${failures} statements on ${tables} have failed` },
    )
    await client.query('ROLLBACK')
    return await result
  } finally {
    client.release(true)
  }
}

/**
 * A TCP proxy in front of PostgreSQL that can treat connections as networks do. Neither side is told of what it
 * swallows.
 */
export interface Door {
  /** The address of the database through the proxy. */
  readonly url: string
  /** Breaks connections and refuses new ones. */
  shut(): Promise<void>
  open(): Promise<void>
  /** Passes nothing in either direction until `thaw`. */
  freeze(): void
  thaw(): void
  /** Present connections stay open and carry nothing any more; later ones work (a fail-over). */
  strand(): void
  /** Breaks every connection by RST; new ones work. */
  reset(): void
  /** Delays every piece by this time. */
  slow(ms: number): void
}

/** One connection: two sockets, and whether it carries data. */
interface Passage {
  readonly sockets: readonly [near: Socket, far: Socket]
  stranded: boolean
}

export async function createDoor(databaseUrl: string): Promise<Door> {
  const target = new URL(databaseUrl)
  const passages = new Set<Passage>()
  let frozen = false
  let delayMs = 0
  const isStill = (passage: Passage) => frozen || passage.stranded

  function join(passage: Passage, from: Socket, to: Socket) {
    // After the other side has ended there is nothing to write to.
    from.on('error', () => undefined)
    from.on('data', (piece) => {
      if (delayMs === 0) to.write(piece)
      else setTimeout(() => to.write(piece), delayMs)
    })
    from.once('close', () => {
      if (!isStill(passage)) end(passage)
    })
  }

  function end(passage: Passage) {
    passages.delete(passage)
    for (const socket of passage.sockets) socket.destroy()
  }

  const proxy = createServer((near) => {
    const far = connect(Number(target.port), target.hostname)
    const passage: Passage = { sockets: [near, far], stranded: false }
    passages.add(passage)
    join(passage, near, far)
    join(passage, far, near)
    if (frozen) for (const socket of passage.sockets) socket.pause()
  })
  let port = 0
  const door: Door = {
    get url() {
      return Object.assign(new URL(target), { port: String(port) }).href
    },
    async open() {
      proxy.listen(port, '127.0.0.1')
      await once(proxy, 'listening')
      const address = proxy.address()
      port = typeof address === 'object' && address !== null ? address.port : 0
    },
    async shut() {
      const closed = once(proxy, 'close')
      proxy.close()
      for (const passage of passages) end(passage)
      await closed
    },
    freeze() {
      frozen = true
      for (const { sockets } of passages) for (const socket of sockets) socket.pause()
    },
    thaw() {
      frozen = false
      for (const passage of passages) {
        if (passage.stranded) continue
        if (passage.sockets.some(({ destroyed }) => destroyed)) end(passage)
        else for (const socket of passage.sockets) socket.resume()
      }
    },
    strand() {
      for (const passage of passages) {
        passage.stranded = true
        for (const socket of passage.sockets) socket.pause()
      }
    },
    reset() {
      for (const { sockets } of passages) for (const socket of sockets) socket.resetAndDestroy()
    },
    slow(ms) {
      delayMs = ms
    },
  }
  await door.open()
  return door
}
