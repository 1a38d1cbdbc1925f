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

/** The way to a PostgreSQL, which can be shut: connections break, and further ones are refused. */
export interface Door {
  /** The database's, through the door. */
  readonly url: string
  shut(): Promise<void>
  open(): Promise<void>
}

export async function createDoor(databaseUrl: string): Promise<Door> {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  const proxy = createServer((near) => {
    const far = connect(Number(target.port), target.hostname)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      // The other side hears of it by the end of its own stream.
      from.on('error', () => to.destroy())
      from.once('close', () => {
        sockets.delete(from)
        to.destroy()
      })
      from.pipe(to)
    }
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
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
  await door.open()
  return door
}
