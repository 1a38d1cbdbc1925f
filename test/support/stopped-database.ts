import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'

/** Bytes of a WAL segment: PostgreSQL stops when it has no room for the next one. */
const segmentBytes = 16 * 1024 * 1024

/** Stops the embedded PostgreSQL of a data directory whose disk is full, so that it cannot write WAL. */
export async function stopDatabase(dataDir: string): Promise<void> {
  const home = join(dataDir, 'postgres')
  const [password, port] = await Promise.all([
    readFile(join(home, 'cluster/password'), 'utf8'),
    readFile(join(home, 'port'), 'utf8'),
  ])
  const client = new pg.Client({ connectionString: `postgresql://berth:${password}@127.0.0.1:${port.trim()}/berth` })
  const stopped = once(client, 'error')
  await client.connect()
  await client.query(`SELECT pg_logical_emit_message(false, 'full', repeat('x', ${2 * segmentBytes}))`).then(
    () => client.end(),
    () => stopped,
  )
}
