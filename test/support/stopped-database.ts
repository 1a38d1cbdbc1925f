import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'

/** Size of a WAL segment in bytes: PostgreSQL stops when the disk has no space for the next one. */
const segmentBytes = 16 * 1024 * 1024

/** Stops the embedded PostgreSQL of a data directory when the disk is full, so that it cannot write WAL. */
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
