import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { createLog } from '../../src/platform/log.ts'
import { migrate } from '../../src/platform/migrate.ts'
import { berthCommand } from '../support/berth-process.ts'
import { openDatabase } from '../support/database.ts'
import { makeDirectory } from '../support/directory.ts'
import { root } from '../support/sources.ts'
import { until } from '../support/until.ts'

/** A server whose database is migrated by a newer version of Berth. */
const dataDir = makeDirectory()
let server: ChildProcess
let output = ''

const database = await openDatabase()
beforeAll(async () => {
  const nodes = '[{ name: n1, cpu: 8, memoryGib: 8 }]'
  await writeFile(join(dataDir, 'berth.yaml'), `pools: [{ name: sim, executor: simulated, nodes: ${nodes} }]\n`)
})
afterEach(() => void server.kill('SIGKILL'))

async function start(folder: string) {
  output = ''
  const env = { DATABASE_URL: database.url, BERTH_CONFIG: join(dataDir, 'berth.yaml') }
  const { file, options } = await berthCommand({ dataDir, env })
  server = spawn(file, [join(folder, 'src/main.ts')], { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  for (const stream of [server.stdout, server.stderr]) stream?.on('data', (data) => (output += data))
  return once(server, 'exit')
}

const refusal = 'The database was used by a newer version of Berth (migration 20990101000000_more): start that one\n'

/** On a loaded machine, the log has other lines, for example about a slow database. */
const withoutLog = (text: string) => text.slice(text.lastIndexOf('}') + 1).trimStart()

test('a server ends when a newer version migrates its database, even if its own folder already has that version', async () => {
  const folder = join(dataDir, 'berth')
  for (const part of ['src', 'prisma', 'package.json'])
    await cp(join(root, part), join(folder, part), { recursive: true })
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  const ended = start(folder)
  await until(() => output.includes('is ready at'), { what: 'it serves' })
  const migrations = join(folder, 'prisma/migrations')
  await mkdir(join(migrations, '20990101000000_more'))
  await writeFile(join(migrations, '20990101000000_more', 'migration.sql'), 'ALTER TABLE job ADD COLUMN more text')
  await migrate(database.url, createLog('silent'), migrations)
  expect(await ended).toEqual([1, null])
  expect(output).toContain('a newer version of Berth has migrated the database; this server ends')
  expect(withoutLog(output)).toBe(refusal)
  expect(await start(root)).toEqual([1, null])
  expect(withoutLog(output)).toBe(refusal)
})
