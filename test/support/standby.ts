import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { createLog } from '../../src/platform/log.ts'
import { migrate } from '../../src/platform/migrate.ts'
import {
  ensureCluster,
  findPostmaster,
  readPassword,
  rememberPort,
  startPostmaster,
  superuser,
} from '../../src/platform/postgres/cluster.ts'
import { findPlace, type Place } from '../../src/platform/postgres/place.ts'
import { freePort } from './berth-server.ts'
import { startProxy } from './proxy.ts'
import { until } from './until.ts'

/** A primary and a standby with streaming replication, behind an address that a failover redirects. */
export interface ReplicatedDatabase extends AsyncDisposable {
  readonly url: string
  /** From now on, commits of the primary wait for the standby. */
  commitOnBoth(): Promise<void>
  /** From now on, the standby gets no transactions of the primary. */
  stopReplication(): Promise<void>
  /** Kills the primary and promotes the standby. */
  failOver(): Promise<void>
  query<Row extends object>(text: string): Promise<Row[]>
}

const log = createLog('error')
const database = 'berth'
const run = promisify(execFile)

interface Server {
  url: string
  stop(signal: NodeJS.Signals): Promise<void>
  /** Stops without a checkpoint, as in a crash. */
  kill(): Promise<void>
}

export async function startReplicated(): Promise<ReplicatedDatabase> {
  await using opened = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'berth-replicated-'))
  opened.defer(() => rm(directory, { recursive: true, force: true }))
  await chmod(directory, 0o711)
  const place = await findPlace({ dataDir: join(directory, 'primary'), log })
  await ensureCluster(place, { durable: false })
  await createStopped(place)
  const standbyPlace = await copyAsStandby(place, await findPlace({ dataDir: join(directory, 'standby'), log }))
  const primary = await start(place)
  opened.defer(() => primary.kill())
  const standby = await start(standbyPlace)
  opened.defer(() => standby.kill())
  const proxy = await startProxy(primary.url)
  opened.defer(() => proxy.close())
  let serving = primary
  const replicates = async () => (await ask(primary.url, 'SELECT 1 FROM pg_stat_replication')).length > 0
  await until(replicates, { what: 'the standby follows the primary' })
  const kept = opened.move()
  return {
    url: Object.assign(new URL(primary.url), { port: new URL(proxy.url).port }).href,
    async commitOnBoth() {
      await set(primary, "synchronous_standby_names = '*'")
      const isSync = async () =>
        (await ask(primary.url, "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'")).length > 0
      await until(isSync, { what: 'the standby is synchronous' })
    },
    async stopReplication() {
      await set(standby, "primary_conninfo = ''")
      await until(async () => !(await replicates()), { what: 'the standby follows no longer' })
    },
    async failOver() {
      await primary.kill()
      await ask(standby.url, 'SELECT pg_promote()')
      serving = standby
      proxy.moveTo(standby.url)
      proxy.cut()
    },
    query: (text) => ask(serving.url, text),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

/** Creates a migrated database and stops its server, so that its files can be copied. */
async function createStopped(place: Place) {
  await rememberPort(place, await freePort())
  const server = await start(place, 'postgres')
  await ask(server.url, `CREATE DATABASE ${database}`)
  await migrate(Object.assign(new URL(server.url), { pathname: `/${database}` }).href, log)
  await server.stop('SIGINT')
}

async function copyAsStandby(primary: Place, standby: Place): Promise<Place> {
  await run('cp', ['-a', join(primary.home, 'cluster'), standby.home])
  const data = join(standby.home, 'cluster/data')
  const [password, port] = await Promise.all([readPassword(primary), readFile(join(primary.home, 'port'), 'utf8')])
  const connection = `host=127.0.0.1 port=${port.trim()} user=${superuser} password=${password} application_name=standby`
  await writeFile(join(data, 'standby.signal'), '')
  await writeFile(join(data, 'postgresql.auto.conf'), `primary_conninfo = '${connection}'\n`)
  return standby
}

async function start(place: Place, name = database): Promise<Server> {
  const child = await startPostmaster(place, { durable: false, connections: 0 })
  const ended = once(child, 'exit')
  const password = await readPassword(place)
  const port = await until(() => portOf(place), { what: 'the server has a port' })
  const url = `postgresql://${superuser}:${password}@127.0.0.1:${port}/${name}`
  const answers = () =>
    ask(url, 'SELECT 1').then(
      () => true,
      () => false,
    )
  await until(answers, { what: `PostgreSQL answers at port ${port}` })
  const stop = async (signal: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal)
    await ended
  }
  return { url, stop, kill: () => stop('SIGQUIT') }
}

const portOf = async (place: Place) => (await findPostmaster(place))?.port

async function set({ url }: Server, setting: string) {
  await ask(url, `ALTER SYSTEM SET ${setting}`)
  await ask(url, 'SELECT pg_reload_conf()')
}

async function ask<Row extends object>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  try {
    return (await client.query<Row>(text)).rows
  } finally {
    await client.end()
  }
}
