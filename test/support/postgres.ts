import { globSync, readFileSync, rmSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { systemClock } from '../../src/platform/clock.ts'
import { createLog } from '../../src/platform/log.ts'
import { migrate } from '../../src/platform/migrate.ts'
import { startPostgres } from '../../src/platform/postgres/postgres.ts'
import { CommandLines, findSecrets } from './leaks.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The migrated database that `createDatabase` copies. A template must have no sessions. */
    templateUrl: string
  }
}

/** Starts one PostgreSQL for all tests, in its own folder, without fsync, and migrates it once. */
export default async function setup(project: TestProject) {
  const directory = await mkdtemp(join(await findFolder(), 'berth-test-'))
  await chmod(directory, 0o711) // Under root the server runs as another account and must get in.
  process.env['TMPDIR'] = await createTemporary(directory)
  const log = createLog('warn')
  const postgres = await startPostgres({
    dataDir: directory,
    log,
    clock: systemClock,
    durable: false,
  })
  const watch = watchCommandLines(new URL(postgres.url).password)
  const abandon = () => endAtOnce(directory)
  process.once('exit', abandon)
  const stop = async () => {
    const exposed = watch.end()
    await postgres.stop()
    await rm(directory, { recursive: true, force: true, maxRetries: 5 })
    process.off('exit', abandon)
    if (exposed.length > 0) throw new Error(`Command lines had secrets:\n${exposed.join('\n')}`)
  }
  try {
    await keepStatistics(postgres.url)
    await migrate(postgres.url, log)
  } catch (error) {
    await stop()
    throw error
  }
  project.provide('templateUrl', postgres.url)
  return stop
}

/** Autovacuum updates statistics at any moment, so the plans of a test would depend on other tests. */
async function keepStatistics(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('ALTER SYSTEM SET autovacuum = off')
  await client.query('SELECT pg_reload_conf()')
  await client.end()
}

/** Contains the files of tests and of the processes that they start. All accounts may write there. */
async function createTemporary(directory: string): Promise<string> {
  const temporary = join(directory, 'tmp')
  await mkdir(temporary)
  await chmod(temporary, 0o1777)
  return temporary
}

const endMsMax = 1_000

/** Runs when TERM or Ctrl-C ends the tests: PostgreSQL has its own session, and its files may be in memory. */
function endAtOnce(directory: string): void {
  for (const file of globSync(join(directory, '**/postmaster.pid')))
    process.kill(Number(readFileSync(file, 'utf8').split('\n')[0]), 'SIGQUIT')
  const endMs = performance.now() + endMsMax
  while (globSync(join(directory, '**/postmaster.pid')).length > 0 && performance.now() < endMs);
  rmSync(directory, { recursive: true, force: true })
}

const gibibyte = 1024 ** 3
const memoryFolder = '/dev/shm'

/**
 * In memory if enough is free: tests create and remove many files, such as whole clusters of PostgreSQL, and ext4 takes
 * long to find a free inode after files were deleted.
 */
async function findFolder(): Promise<string> {
  const { bavail, bsize } = await statfs(memoryFolder).catch(() => ({ bavail: 0, bsize: 0 }))
  return bavail * bsize > 4 * gibibyte && process.availableMemory() > 8 * gibibyte ? memoryFolder : tmpdir()
}

const watchEveryMs = 500

/** Every account can read command lines. Collects those with a secret during all tests. */
function watchCommandLines(password: string) {
  const exposed = new Set<string>()
  const commandLines = new CommandLines()
  const look = () => {
    for (const line of commandLines.read()) if (findSecrets(line, [password]).length > 0) exposed.add(line)
  }
  const timer = setInterval(look, watchEveryMs)
  return {
    end(): string[] {
      clearInterval(timer)
      return [...exposed]
    },
  }
}
