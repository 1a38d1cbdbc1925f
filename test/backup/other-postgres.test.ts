import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { chmod, chown, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { expect, test } from 'vitest'
import { checkData } from '../../src/backup/put-back.ts'
import { chainAll } from '../../src/domain/audit/audit-chain.ts'
import { createLog } from '../../src/platform/log.ts'
import { backUpTo, createEmptyDatabase, restoreTo } from '../support/backups.ts'
import { freePort } from '../support/berth-server.ts'
import { openTestDomain } from '../support/domain.ts'
import { until } from '../support/until.ts'

/** A backup moves an installation to another major version of PostgreSQL and back. Debian: `apt-get install postgresql`. */
const { database, it: world } = await openTestDomain()
const installed = '/usr/lib/postgresql'
const versions = existsSync(installed)
  ? readdirSync(installed).filter((name) => Number(name) >= 15 && Number(name) < 18)
  : []
const version = versions.sort().at(0)
if (version === undefined)
  console.warn(
    `SKIPPED: ${installed} has no PostgreSQL 15, 16 or 17, so no backup is restored into another major version`,
  )

const account = () => {
  if (process.getuid?.() !== 0) return {}
  const [, uid, gid] = /^postgres:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8')) ?? []
  return { uid: Number(uid), gid: Number(gid) }
}

/** A server of the given version with a database that belongs to an ordinary role. */
async function startOther(kept: AsyncDisposableStack): Promise<string> {
  const bin = join(installed, version ?? '', 'bin')
  const folder = await mkdtemp(join(tmpdir(), 'berth-other-'))
  kept.defer(() => rm(folder, { recursive: true, force: true }))
  await chmod(folder, 0o711)
  const data = join(folder, 'data')
  await mkdir(data, { mode: 0o700 })
  const { uid, gid } = account()
  if (uid !== undefined && gid !== undefined) await chown(data, uid, gid)
  const settings = { ...account(), cwd: '/', env: { LC_ALL: 'C', PATH: '/usr/bin:/bin' } }
  await promisify(execFile)(
    join(bin, 'initdb'),
    ['-D', data, '-U', 'root', '-A', 'trust', '-E', 'UTF8', '--no-sync'],
    settings,
  )
  const port = await freePort()
  const flags = [
    '-D',
    data,
    '-p',
    String(port),
    '-c',
    'listen_addresses=127.0.0.1',
    '-c',
    'unix_socket_directories=',
    '-c',
    'fsync=off',
  ]
  const server: ChildProcess = spawn(join(bin, 'postgres'), flags, { ...settings, stdio: 'ignore' })
  kept.defer(async () => {
    const ended = once(server, 'exit')
    server.kill('SIGINT')
    await ended
  })
  const administer = async (name: string, statement: string) => {
    const client = new pg.Client(`postgresql://root@127.0.0.1:${port}/${name}`)
    await client.connect()
    await client.query(statement).finally(() => client.end())
    return true
  }
  await until(() => administer('postgres', 'CREATE ROLE lab LOGIN'), { what: 'PostgreSQL is up' })
  await administer('postgres', "CREATE DATABASE lab OWNER lab TEMPLATE template0 ENCODING 'UTF8'")
  return `postgresql://lab@127.0.0.1:${port}/lab`
}

const readRows = async (url: string, table: string) => {
  const client = new pg.Client(url)
  await client.connect()
  const { rows } = await client.query<{ row: string }>(`SELECT t::text AS row FROM "${table}" t ORDER BY 1`)
  await client.end()
  return rows.map(({ row }) => row)
}

test.skipIf(version === undefined)(`PostgreSQL 18 → ${version} → 18: every row is as it was`, async () => {
  await using kept = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'berth-backup-'))
  kept.defer(() => rm(folder, { recursive: true, force: true }))
  const other = await startOther(kept)
  for (let i = 0; i < 5; i++) await world.submit({ name: `ünï\t\\n "${i}"` })
  await database.db.sql.query(
    `INSERT INTO run_sample (run_id, seconds, at, cpu_cores) SELECT id, 10, berth_now(), 0.1::real FROM run`,
  )
  await world.sequence()
  await chainAll(world.domain)
  const log = createLog('silent')
  const there = join(folder, 'there.tar')
  const { manifest } = await backUpTo(there, database.url)
  await restoreTo(other, there)
  expect(await checkData({ url: other }, { log })).toMatchObject({ ok: true })

  const back = join(folder, 'back.tar')
  expect((await backUpTo(back, other)).manifest.postgresVersion).toMatch(new RegExp(`^${version}\\.`))
  await using empty = await createEmptyDatabase(database)
  await restoreTo(empty.url, back)
  expect(await checkData({ url: empty.url }, { log })).toMatchObject({ ok: true })
  const changing = ['scheduler_leader', 'pool_change', 'question']
  for (const { name } of manifest.tables.filter((table) => !changing.includes(table.name)))
    expect(await readRows(empty.url, name), name).toEqual(await readRows(database.url, name))
})
