import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import type { TestDatabase } from './database.ts'
import { until } from './until.ts'

/**
 * Does `work` in an outage: statements on the tables wait for a lock, and their connections are terminated while they
 * wait. Once `failures` of them have failed the tables are free again, and the work may end.
 */
export async function inOutage<T>(
  { db }: Pick<TestDatabase, 'db'>,
  { tables, failures }: { tables: string; failures: number },
  work: () => Promise<T>,
): Promise<T> {
  const client = await db.pool.connect()
  try {
    await client.query(`BEGIN; LOCK TABLE ${tables} IN ACCESS EXCLUSIVE MODE`)
    const result = work()
    let failed = 0
    // Outside the transaction: inside, the view of what waits would stand still.
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
 * The way to a PostgreSQL: a TCP proxy that can do to connections what networks do. What it swallows is told to neither
 * side: no byte, no end.
 */
export interface Door {
  /** The database's, through the door. */
  readonly url: string
  /** Connections break, and further ones are refused. */
  shut(): Promise<void>
  open(): Promise<void>
  /** Nothing passes any more, in either direction, until `thaw`. */
  freeze(): void
  thaw(): void
  /** What is connected now stays so and carries nothing, for ever; what connects later is not concerned (a fail-over). */
  strand(): void
  /** Breaks every connection by RST; further ones are taken. */
  reset(): void
  /** Every piece waits for so long. */
  slow(ms: number): void
}

/** One connection through the door: two sockets, and whether it carries anything. */
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
