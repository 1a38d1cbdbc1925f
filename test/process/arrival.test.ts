import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { berthCommand } from '../support/berth-process.ts'
import { freePort } from '../support/berth-server.ts'
import { openDatabaseForEach } from '../support/database.ts'
import { makeDirectory } from '../support/directory.ts'
import { createDoor, type Door } from '../support/outage.ts'
import { until } from '../support/until.ts'

/** A server that starts before its database does. */
const database = openDatabaseForEach()
let door: Door
let dataDir: string
let server: ChildProcess
let output: string
let url: string

beforeEach(async () => {
  door = await createDoor(database.url)
  dataDir = makeDirectory()
})
afterEach(async () => {
  if (server.exitCode === null) {
    server.kill('SIGTERM')
    await once(server, 'exit')
  }
  await door.shut().catch(() => undefined) // it may be shut
})

async function start(given?: number) {
  const port = given ?? (await freePort())
  url = `http://127.0.0.1:${port}`
  output = ''
  const { file, args, options } = await berthCommand({ dataDir, port, env: { DATABASE_URL: door.url } })
  server = spawn(file, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  for (const stream of [server.stdout, server.stderr]) stream?.on('data', (data) => (output += data))
}

const waits = () => until(() => output.includes('the database is not up yet; waiting for it'), { what: 'it says so' })

test('a server waits for its database, and logs that it waits', async () => {
  await door.shut()
  await start()
  await waits()
  expect(output).toMatch(/"host":"127.0.0.1".*"reason":".*ECONNREFUSED.*"waitedSeconds":\d+,"secondsMax":300/)
  await door.open()
  await until(async () => (await fetch(`${url}/readyz`).catch(() => null))?.ok, { what: 'it serves' })
  expect(output).toMatch(/"waitedSeconds":\d+,"msg":"the database is up"/)
})

test('a server can be stopped while it waits for its database', async () => {
  await door.shut()
  await start()
  await waits()
  server.kill('SIGTERM')
  expect(await once(server, 'exit')).toEqual([0, null])
})

test('a server does not start if its configuration needs more connections than the database allows', async () => {
  const name = new URL(database.url).pathname.slice(1)
  await database.db.sql.query(`ALTER DATABASE ${name} CONNECTION LIMIT 20`)
  await start()
  await once(server, 'exit')
  expect(output).toContain(
    'database.connections: 24 connections and 3 others exceed the 20 that this role may open (max_connections 200); ' +
      'set it to at most 17, or raise max_connections, or the limit of the role or the database',
  )
})

test('a server that finds its port in use reports the port and the remedy', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  await start(port)
  await once(server, 'close') // with all of its output
  other.close()
  // On a busy machine, an earlier line reports that the database was late.
  expect(output.trimEnd().split('\n').at(-1)).toBe(
    `server.port: ${port} of 127.0.0.1 is in use by another process, perhaps another Berth; ` +
      'stop that process, or set another port (BERTH_PORT)',
  )
})
