import { type ChildProcess, execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { systemClock } from '../src/platform/clock.ts'
import { createLog } from '../src/platform/log.ts'
import { startPostgres } from '../src/platform/postgres/postgres.ts'
import { startBerthProcess } from '../test/support/berth-process.ts'

/** Calls `work` with a folder, and removes the folder afterwards. */
export async function withFolder(work: (dataDir: string) => Promise<void>): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'berth-bench-'))
  await chmod(dataDir, 0o711) // Under root the database runs as another account.
  try {
    await work(dataDir)
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
}

/**
 * Starts a server process, on the embedded database unless the environment names another. `config` is the text of its
 * configuration file, or a function of the server's folder. The folder has an empty folder `shared`.
 */
export async function withServer(
  work: (url: string, pid: number, folder: string) => Promise<void>,
  env: Record<string, string> = {},
  config: string | ((folder: string) => string) = '{}',
): Promise<void> {
  await withFolder(async (dataDir) => {
    const file = join(dataDir, 'berth.yaml')
    await mkdir(join(dataDir, 'shared'))
    await writeFile(file, typeof config === 'string' ? config : config(dataDir))
    const server = await startBerthProcess({ dataDir, env: { ...env, BERTH_CONFIG: file } })
    try {
      await work(server.url, server.pid, join(dataDir, 'shared'))
    } finally {
      await server.end()
    }
  })
}

/**
 * Starts the server of another revision, with its own packages. `given`: the arguments of `withServer`. The environment
 * must name a database.
 */
export async function withServerOfRevision(revision: string, ...given: Parameters<typeof withServer>): Promise<void> {
  await withFolder(async (folder) => {
    const run = (file: string, ...args: string[]) => execFileSync(file, args, { cwd: folder, stdio: 'inherit' })
    run('git', 'clone', '--quiet', '--shared', join(import.meta.dirname, '..'), '.')
    run('git', 'checkout', '--quiet', '--detach', revision)
    run('npm', 'ci', '--ignore-scripts') // without the console
    run('npm', 'run', '--silent', 'generate')
    const older: { withServer: typeof withServer } = await import(join(folder, 'bench/server.ts'))
    await older.withServer(...given)
  })
}

/**
 * Creates empty databases on one PostgreSQL, by name, for contestants that must not share tables: that of DATABASE_URL,
 * where the account must be a superuser, or an embedded one. Drops the databases afterwards.
 */
export async function withDatabases(names: readonly string[], work: (urls: Map<string, string>) => Promise<void>) {
  const external = process.env['DATABASE_URL']
  if (external) return withDatabasesAt(external, names, work)
  await withFolder(async (dataDir) => {
    const postgres = await startPostgres({ dataDir, log: createLog('error'), clock: systemClock })
    try {
      await withDatabasesAt(postgres.url, names, work)
    } finally {
      await postgres.stop()
    }
  })
}

async function withDatabasesAt(
  url: string,
  names: readonly string[],
  work: (urls: Map<string, string>) => Promise<void>,
) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const databases = new Map(names.map((name) => [name, `${name}-${process.pid}`]))
  try {
    for (const database of databases.values())
      await client.query(`CREATE DATABASE ${client.escapeIdentifier(database)}`)
    const urlOf = (database: string) => Object.assign(new URL(url), { pathname: database }).href
    await work(new Map([...databases].map(([name, database]) => [name, urlOf(database)])))
  } finally {
    for (const database of databases.values())
      await client.query(`DROP DATABASE IF EXISTS ${client.escapeIdentifier(database)} WITH (FORCE)`)
    await client.end()
  }
}

/** Starts the rivals of a submission (rival.ts) as child processes. */
export async function withRivals(
  databases: ReadonlyMap<string, string>,
  work: (urls: Map<string, string>) => Promise<void>,
): Promise<void> {
  const children: ChildProcess[] = []
  const urls = new Map<string, string>()
  try {
    for (const kind of ['no-op', ...databases.keys()]) {
      const child = fork(new URL('./rival.ts', import.meta.url), [kind, databases.get(kind) ?? ''])
      children.push(child)
      const [url] = (await once(child, 'message')) as [string]
      urls.set(kind, url)
    }
    await work(urls)
  } finally {
    for (const child of children) child.disconnect()
  }
}
