import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { listMigrations } from '../../prisma/migration.ts'
import { Random } from '../../simulate/random.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createLog } from '../../src/platform/log.ts'
import { migrate } from '../../src/platform/migrate.ts'
import { startPostgres } from '../../src/platform/postgres/postgres.ts'
import { berthCommand, startBerthProcess } from '../support/berth-process.ts'
import { freePort } from '../support/berth-server.ts'
import { killMigration } from '../support/killed-migration.ts'
import { root } from '../support/sources.ts'
import { withDirectory } from './directory.ts'
import type { Scenario } from './scenario.ts'

/** Processes are killed while they create the database; the next ones complete it. */
export const migrations: readonly Scenario[] = [
  { name: 'killed-migration', run: killMigrations },
  { name: 'killed-first-start', run: killFirstStarts },
]

type Context = Parameters<Scenario['run']>[0]

/** Number of messages of a migration of an empty database: to connect, and for each script. */
const messages = { connecting: 10, perScript: 5 }
const killsMax = 3
/** Limit for the first start; an idle machine needs less. */
const firstStartMs = 8_000

async function killMigrations({ seed, seconds, log }: Context): Promise<void> {
  const random = new Random(seed)
  const counts = { killed: 0, ended: 0 }
  const messagesMax = messages.connecting + messages.perScript * (await listMigrations()).length
  await withDirectory(async (dataDir) => {
    const postgres = await startPostgres({ dataDir, log: createLog('error'), clock: systemClock, durable: false })
    try {
      const until = performance.now() + seconds * 1_000
      for (let round = 1; performance.now() < until; round++) {
        const url = await emptyDatabase(postgres.url, `round_${round}`)
        for (let kill = random.between(1, killsMax); kill > 0; kill--) {
          const at = random.between(1, messagesMax)
          counts[await killMigration({ url, directory: shipped, at, delivered: random.chance(0.5) })] += 1
        }
        await Promise.all([migrate(url, createLog('error')), migrate(url, createLog('error'))])
        await demandWhole(url)
      }
    } finally {
      await postgres.stop()
    }
  })
  log(`${counts.killed} migrations killed, ${counts.ended} were over before`)
}

const shipped = join(root, 'prisma/migrations')

async function emptyDatabase(url: string, name: string): Promise<string> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`CREATE DATABASE ${name} TEMPLATE template0`)
  await client.end()
  return Object.assign(new URL(url), { pathname: name }).href
}

async function demandWhole(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ name: string; finished: boolean }>(
    `SELECT migration_name AS name, finished_at IS NOT NULL AS finished FROM _prisma_migrations
     WHERE rolled_back_at IS NULL ORDER BY name`,
  )
  await client.end()
  assert.deepEqual(
    rows,
    (await listMigrations()).map((name) => ({ name, finished: true })),
  )
}

/**
 * The whole server starts from an empty data directory: it creates the cluster, starts it, and migrates the database.
 */
async function killFirstStarts({ seed, seconds, log }: Context): Promise<void> {
  const random = new Random(seed)
  const until = performance.now() + seconds * 1_000
  let killed = 0
  do {
    await withDirectory(async (dataDir) => {
      const port = await freePort()
      for (let kill = random.between(1, killsMax); kill > 0; kill--, killed++) {
        const { file, args, options } = await berthCommand({ dataDir, port })
        const child = spawn(file, args, { ...options, stdio: 'ignore' })
        await Promise.race([sleep(random.between(0, firstStartMs)), once(child, 'exit')])
        assert.equal(child.exitCode, null, 'the start failed')
        child.kill('SIGKILL')
      }
      const server = await startBerthProcess({ dataDir, port })
      assert.equal(await server.end(), 0)
    })
  } while (performance.now() < until)
  log(`${killed} starts killed`)
}
