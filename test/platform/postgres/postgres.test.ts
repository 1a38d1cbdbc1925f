import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { readConnectionLimits } from '../../../src/platform/arrival.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { createLog } from '../../../src/platform/log.ts'
import { findPostmaster, isPostmaster } from '../../../src/platform/postgres/cluster.ts'
import { type Postgres, startPostgres } from '../../../src/platform/postgres/postgres.ts'
import { until } from '../../support/until.ts'

const run = promisify(execFile)
const isRoot = process.getuid?.() === 0
/** Tests of later starts copy this cluster. */
let initialised: string
let directory: string
let running: Postgres[]
let children: ChildProcess[]

const createDirectory = async () => {
  const made = await mkdtemp(join(tmpdir(), 'berth-embedded-'))
  await chmod(made, 0o711)
  return made
}

beforeAll(async () => {
  directory = await createDirectory()
  initialised = directory
  running = []
  const postgres = await startAnew()
  await postgres.stop()
})
afterAll(() => rm(initialised, { recursive: true }))
beforeEach(async () => {
  directory = await createDirectory()
  running = []
  children = []
})
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL')
  for (const postgres of running) await postgres.stop()
  const left = await postmasterPid()
  if (left !== null) process.kill(left, 'SIGQUIT')
  await until(async () => (await postmasterPid()) === null, { what: 'the server is gone' })
  await rm(directory, { recursive: true, force: true })
})

const home = () => join(directory, 'postgres')

async function start(dataDir = directory): Promise<Postgres> {
  await prepare(dataDir)
  return startAnew(dataDir)
}

/** Otherwise the first start creates the cluster, which takes a second. */
async function prepare(dataDir = directory) {
  const target = join(dataDir, 'postgres')
  if (existsSync(target)) return
  await mkdir(target, { recursive: true, mode: 0o711 })
  await run('cp', ['-a', join(initialised, 'postgres/cluster'), target])
}

async function startAnew(dataDir = directory): Promise<Postgres> {
  const systemDir = join(directory, 'system')
  const log = createLog('silent')
  const options = { dataDir, systemDir, connections: 100, log, clock: systemClock, durable: false }
  const postgres = await startPostgres(options)
  running.push(postgres)
  return postgres
}

/** Starts a second process with the same directory. */
async function startElsewhere(): Promise<{ url: string; child: ChildProcess; leave(): Promise<void> }> {
  const script = join(import.meta.dirname, '../../support/postgres-user.ts')
  const child = spawn(process.execPath, [script, directory, join(directory, 'system')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  children.push(child)
  const said = new Promise<string>((resolve) =>
    child.stdout.once('data', (data: Buffer) => resolve(data.toString().trim())),
  )
  const url = await said
  const leave = async () => {
    child.stdin.end()
    if (child.exitCode === null) await once(child, 'exit')
  }
  return { url, child, leave }
}

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query({ text, rowMode: 'array' })).rows.flat()
  } finally {
    await client.end()
  }
}

/** Returns the pid of the server on this directory, if one runs. */
async function postmasterPid(): Promise<number | null> {
  const postmaster = await findPostmaster({ home: home(), bin: '', major: '18', account: null })
  return postmaster?.pid ?? null
}

const canConnect = (url: string) =>
  query(url, 'SELECT 1').then(
    () => true,
    () => false,
  )

describe('the first start of an embedded PostgreSQL', () => {
  test('creates a cluster with a password, in UTF-8 and locale C, on loopback only', async () => {
    const postgres = await startAnew()
    const { url } = postgres
    expect(await readConnectionLimits(postgres)).toEqual({ maxConnections: 400, available: 400 })
    const settings = 'listen_addresses unix_socket_directories server_encoding lc_collate fsync'.split(' ')
    const values = await query(url, `SELECT ${settings.map((name) => `current_setting('${name}', true)`).join(', ')}`)
    expect(values.slice(0, 3)).toEqual(['127.0.0.1', '', 'UTF8'])
    expect(await query(url, "SELECT datcollate FROM pg_database WHERE datname = 'berth'")).toEqual(['C'])
    expect((await stat(join(home(), 'cluster/password'))).mode & 0o777).toBe(0o600)
    expect((await stat(join(home(), 'cluster/data'))).mode & 0o777).toBe(0o700)
    expect(await canConnect(url.replace(/:[^:@]+@/, ':wrong@'))).toBe(false)
  })

  test('is repeated if it was killed half-way', async () => {
    await mkdir(join(home(), 'cluster.new-999999999/data/base'), { recursive: true })
    await writeFile(join(home(), 'cluster.new-999999999/data/PG_VERSION'), '18\n')
    await startAnew()
    expect((await readdir(home())).filter((name) => name.startsWith('cluster'))).toEqual(['cluster'])
  })

  test('by two processes at once gives both the same server', async () => {
    const [here, elsewhere] = await Promise.all([startAnew(), startElsewhere()])
    expect(elsewhere.url).toBe(here.url)
    await elsewhere.leave()
  })
})

describe('the next start of an embedded PostgreSQL', () => {
  test('uses the same data and the same port', async () => {
    const first = await start()
    await query(first.url, 'CREATE TABLE kept AS SELECT 42 AS n')
    await first.stop()
    expect(await postmasterPid()).toBe(null)
    const second = await start()
    expect(second.url).toBe(first.url)
    expect(await query(second.url, 'SELECT n FROM kept')).toEqual([42])
  })

  test('uses a server whose last process was killed', async () => {
    await prepare()
    const { url, child } = await startElsewhere()
    const pid = await postmasterPid()
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(await canConnect(url)).toBe(true)
    await start()
    expect(await postmasterPid()).toBe(pid)
  })

  test('recovers after the server and its processes were killed', async () => {
    await prepare()
    const { url, child } = await startElsewhere()
    await query(url, 'CREATE TABLE kept AS SELECT 42 AS n')
    child.kill('SIGKILL')
    await once(child, 'exit')
    process.kill((await postmasterPid()) ?? 0, 'SIGKILL')
    await until(async () => (await postmasterPid()) === null, { what: 'the server is dead' })
    expect(await readFile(join(home(), 'cluster/data/postmaster.pid'), 'utf8')).not.toBe('')
    expect(await query((await start()).url, 'SELECT n FROM kept')).toEqual([42])
  })

  test('creates no files while the directory is missing, and succeeds when it is back', async () => {
    const postgres = await start()
    await query(postgres.url, 'CREATE TABLE kept AS SELECT 42 AS n')
    const pid = (await postmasterPid()) ?? 0
    const away = `${directory}.away`
    await rename(directory, away)
    process.kill(pid, 'SIGKILL')
    // Long enough for several attempts to enter, which happen twice a second.
    for (let looks = 0; looks < 20; looks++) {
      expect(postgres.outOfRoom).toBeNull()
      expect(existsSync(directory)).toBe(false)
      await setTimeout(100)
    }
    await rename(away, directory)
    await until(() => canConnect(postgres.url), { what: 'the server is back' })
    expect(await query(postgres.url, 'SELECT n FROM kept')).toEqual([42])
  })

  test('is not prevented by a pid that now belongs to another process', async () => {
    const first = await start()
    await first.stop()
    await writeFile(join(home(), 'cluster/data/postmaster.pid'), `${process.pid}\n/elsewhere\n0\n1\n`)
    const second = await start()
    expect(await canConnect(second.url)).toBe(true)
  })
})

describe('processes that share an embedded PostgreSQL', () => {
  test('stop it when the last of them leaves', async () => {
    const here = await start()
    const elsewhere = await startElsewhere()
    await here.stop()
    expect(await canConnect(elsewhere.url)).toBe(true)
    await elsewhere.leave()
    expect(await canConnect(elsewhere.url)).toBe(false)
    expect(await postmasterPid()).toBe(null)
  })

  test('stop it even if a killed process did not leave', async () => {
    const here = await start()
    const elsewhere = await startElsewhere()
    elsewhere.child.kill('SIGKILL')
    await once(elsewhere.child, 'exit')
    await until(async () => (await users(here.url)) === 1, { what: 'its session is gone' })
    await here.stop()
    expect(await postmasterPid()).toBe(null)
  })

  test('start it again if one process arrives while another stops it', async () => {
    for (const _ of [1, 2, 3]) {
      const leaving = await start()
      const [elsewhere] = await Promise.all([startElsewhere(), leaving.stop()])
      expect(await canConnect(elsewhere.url)).toBe(true)
      await elsewhere.leave()
    }
  })

  const users = async (url: string) =>
    (await query(url, "SELECT count(*)::int FROM pg_stat_activity WHERE application_name = 'berth embedded'"))[0]
})

test('a server that was killed restarts on the same port', async () => {
  const { url } = await start()
  const pid = await postmasterPid()
  process.kill(pid ?? 0, 'SIGKILL')
  await until(() => canConnect(url), { what: 'it answers again' })
  expect(await postmasterPid()).not.toBe(pid)
})

test('files of another major version of PostgreSQL are refused at once, with the commands that migrate them', async () => {
  const postgres = await start()
  await postgres.stop()
  await writeFile(join(directory, 'postgres/cluster/data/PG_VERSION'), '17\n')
  await expect(startAnew()).rejects.toThrow(
    /of PostgreSQL 17, and this version of Berth brings PostgreSQL 18\. Move the data: run "berth backup move\.tar"/,
  )
})

test('leaving the embedded PostgreSQL twice has the same effect as leaving it once', async () => {
  const postgres = await start()
  await Promise.all([postgres.stop(), postgres.stop()])
  await postgres.stop()
  expect(await postmasterPid()).toBe(null)
})

describe.skipIf(!isRoot)('an embedded PostgreSQL as root (skipped otherwise)', () => {
  test('finds data stored elsewhere after its directory was moved; a copy of the directory gets its own data', async () => {
    const closed = join(directory, 'closed')
    await mkdir(closed, { mode: 0o700 })
    const first = await startAnew(join(closed, 'data'))
    await query(first.url, 'CREATE TABLE kept AS SELECT 42 AS n')
    await cp(join(closed, 'data'), join(closed, 'copy'), { recursive: true })
    const copy = await startAnew(join(closed, 'copy'))
    expect(await query(copy.url, "SELECT to_regclass('kept')")).toEqual([null])
    await Promise.all([first.stop(), copy.stop()])
    await rename(join(closed, 'data'), join(closed, 'moved'))
    expect(await query((await startAnew(join(closed, 'moved'))).url, 'SELECT n FROM kept')).toEqual([42])
  })

  test('stores its data elsewhere if the account of the server cannot reach the directory', async () => {
    const closed = join(directory, 'closed')
    await mkdir(closed, { mode: 0o700 })
    const postgres = await startAnew(join(closed, 'data'))
    const [place] = await query(postgres.url, 'SHOW data_directory')
    expect(place).toContain(join(directory, 'system'))
    await query(postgres.url, 'CREATE TABLE kept AS SELECT 42 AS n')
    await postgres.stop()
    expect(await query((await startAnew(join(closed, 'data'))).url, 'SELECT n FROM kept')).toEqual([42])
  })
})

/** The file that a server left, as a crash of the machine may leave it. */
const pidFile = () => join(home(), 'cluster/data/postmaster.pid')

test.each(['', '\0\0\0\0\n'])('a server starts although its postmaster.pid is invalid: %j', async (content) => {
  const first = await start()
  await query(first.url, 'CREATE TABLE kept AS SELECT 42 AS n')
  await first.stop()
  await writeFile(pidFile(), content)
  expect(await query((await start()).url, 'SELECT n FROM kept')).toEqual([42])
})

test('a copy of a running data directory, whose path ends like that of the original, has a server of its own', async () => {
  const original = await start(join(directory, 'srv/x'))
  await query(original.url, 'CREATE TABLE of_original AS SELECT 42 AS n')
  await query(original.url, 'CHECKPOINT')
  // The path of the original is a suffix of the path of the copy.
  const copy = join(directory, 'srv/x', 'srv/x')
  const place = { home: await realpath(join(directory, 'srv/x/postgres')), bin: '', major: '18', account: null }
  const pid = (await findPostmaster(place))?.pid ?? 0
  expect(await isPostmaster(pid, place)).toBe(true)
  const copied = { ...place, home: join(copy, 'postgres') }
  await cp(place.home, copied.home, { recursive: true })
  expect(await findPostmaster(copied)).toBeNull()
  expect(await isPostmaster(pid, { ...place, home: '/srv/x/postgres' })).toBe(false)
})

test('a directory that is moved while its server runs still belongs to that server', async () => {
  const original = await start(join(directory, 'before'))
  await rename(join(directory, 'before'), join(directory, 'after'))
  expect((await start(join(directory, 'after'))).url).toBe(original.url)
  const place = { home: join(directory, 'after/postgres'), bin: '', major: '18', account: null }
  process.kill((await findPostmaster(place))?.pid ?? 0, 'SIGQUIT')
})

test('a server that restarts on another port is found again', async () => {
  const postgres = await start()
  const { url } = postgres
  const { port } = new URL(url)
  process.kill((await postmasterPid()) ?? 0, 'SIGKILL')
  const thief = createServer()
  await until(
    () =>
      new Promise<boolean>((resolve) => {
        thief.once('error', () => resolve(false))
        thief.listen(Number(port), '127.0.0.1', () => resolve(true))
      }),
    { what: 'its port is taken' },
  )
  await until(() => postgres.url !== url && canConnect(postgres.url), { what: 'it is found' })
  thief.close()
})

describe('a process that leaves an embedded PostgreSQL does not wait', () => {
  test.each<[string, (url: string) => Promise<number[]>]>([
    ['a frozen server', async (url) => [await postmaster(), await pidOf(url, "application_name = 'berth embedded'")]],
    ['a frozen postmaster, whose sessions still answer', async () => [await postmaster()]],
    ['a server with a frozen process', async (url) => [await pidOf(url, "backend_type = 'checkpointer'")]],
  ])('for %s', async (_, processesOf) => {
    const postgres = await start()
    const frozen = await processesOf(postgres.url)
    for (const pid of frozen) process.kill(pid, 'SIGSTOP')
    await postgres.stop()
    for (const pid of frozen) process.kill(pid, 'SIGCONT')
  })
})

const postmaster = async () => (await postmasterPid()) ?? 0

const pidOf = async (url: string, which: string) =>
  Number((await query(url, `SELECT pid FROM pg_stat_activity WHERE ${which}`))[0])
