import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import pg from 'pg'

/**
 * The baseline of the benchmark of files: stores the body of a PUT in rows of 256 KiB, and returns them to a GET. Runs
 * as a child process of the benchmark, sends its URL by IPC, and ends with its parent.
 */
const [databaseUrl = ''] = process.argv.slice(2)
const chunkBytes = 256 * 1024
const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 })
await pool.query('CREATE TABLE bare (name text, n int, data bytea, PRIMARY KEY (name, n))')
await pool.query('ALTER TABLE bare ALTER data SET STORAGE EXTERNAL')

async function store(name: string, request: IncomingMessage): Promise<void> {
  let n = 0
  let parts: Buffer[] = []
  let bytes = 0
  const write = async () => {
    await pool.query('INSERT INTO bare VALUES ($1, $2, $3)', [name, n++, Buffer.concat(parts)])
    parts = []
    bytes = 0
  }
  for await (const part of request as AsyncIterable<Buffer>) {
    parts.push(part)
    bytes += part.length
    if (bytes >= chunkBytes) await write()
  }
  if (bytes > 0) await write()
}

async function send(name: string, response: ServerResponse): Promise<void> {
  for (let n = 0; ; n += 8) {
    const { rows } = await pool.query<{ data: Buffer }>(
      'SELECT data FROM bare WHERE name = $1 AND n >= $2 ORDER BY n LIMIT 8',
      [name, n],
    )
    if (rows.length === 0) break
    for (const { data } of rows)
      if (!response.write(data)) await new Promise<void>((drained) => response.once('drain', drained))
  }
}

const http = createServer(async (request, response) => {
  const name = request.url ?? ''
  await (request.method === 'PUT' ? store(name, request) : send(name, response))
  response.end()
})
http.listen(0, '127.0.0.1', () => process.send?.(`http://127.0.0.1:${(http.address() as AddressInfo).port}`))
process.once('disconnect', () => process.exit())
