import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { findViolations } from '../../src/domain/selfcheck/selfcheck.ts'
import { type Api, connectApi } from '../support/api.ts'
import { type BerthProcess, startBerthProcess } from '../support/berth-process.ts'
import { openDatabaseForEach } from '../support/database.ts'
import { makeDirectory } from '../support/directory.ts'
import { until } from '../support/until.ts'
import { isWhole } from '../support/whole.ts'

/**
 * Leaders that are killed and frozen: another server leads, no run starts twice, and limits are respected. To run
 * longer: `BERTH_KILL_SECONDS=300 npx vitest run test/process/leaders.test.ts`.
 */
const killSeconds = Number(process.env['BERTH_KILL_SECONDS'] ?? (isWhole ? 5 : 2))
/** Minimum time, until another server has led and finished a job. By hand: `BERTH_FREEZE_SECONDS=30`. */
const freezeSeconds = Number(process.env['BERTH_FREEZE_SECONDS'] ?? 0)
const limit = 6

const database = openDatabaseForEach()
let dataDir: string
let config: string
let servers: BerthProcess[]
let apis: Api[]

beforeEach(async () => {
  dataDir = makeDirectory()
  config = join(dataDir, 'config.yaml')
  const nodes = '[{ name: n1, cpu: 8, memoryGib: 64 }]'
  await writeFile(
    config,
    `pools: [{ name: sim, executor: simulated, nodes: ${nodes}, limits: { maxConcurrent: ${limit} } }]\n`,
  )
  servers = []
  apis = []
})
afterEach(async () => {
  for (const server of servers) process.kill(server.pid, 'SIGCONT')
  for (const api of apis) await api.close()
  for (const server of servers) await server.end()
})

async function start(): Promise<BerthProcess> {
  const url = new URL(database.url)
  url.searchParams.set('options', `-c traced.server=${servers.length}`)
  const env = { DATABASE_URL: url.href, BERTH_CONFIG: config }
  const server = await startBerthProcess({ dataDir, env })
  servers.push(server)
  apis.push(connectApi(server.url))
  return server
}

const sql = <Row>(text: string, values: unknown[] = []) => database.db.sql.query<Row>(text, values)

async function leading(): Promise<{ server: BerthProcess; epoch: number }> {
  return until(
    async () => {
      const [row] = await sql<{ holder: string | null; epoch: number }>('SELECT holder, epoch FROM scheduler_leader')
      const server = servers.find(({ pid }) => row?.holder?.includes(`:${pid}:`))
      return server && row ? { server, epoch: row.epoch } : null
    },
    { what: 'somebody leads' },
  )
}

const apiOf = (server: BerthProcess): Api => apis[servers.indexOf(server)] as Api
const simulated = (seconds: number) => ({
  command: ['simulated'],
  resources: { cpu: 0.1, memoryBytes: 1 },
  environment: [{ name: 'SIM_RUN_SECONDS', value: String(seconds) }],
})
const count = async (condition: string) =>
  (await sql<{ n: number }>(`SELECT count(*) AS n FROM job WHERE ${condition}`))[0]?.n ?? 0

/** Waits until another process leads, which takes as long as the lease of a frozen leader. */
const ledBeyond = (epoch: number) =>
  until(async () => (await sql<{ epoch: number }>('SELECT epoch FROM scheduler_leader'))[0]?.epoch !== epoch, {
    what: 'another leads',
  })

/** From now on every row records which server wrote it, in which table, and who led the pool in which epoch. */
async function trace() {
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  await client.query(`CREATE TABLE traced (server text, name text, epoch bigint, holder text);
    CREATE FUNCTION trace() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      INSERT INTO traced SELECT current_setting('traced.server', true), TG_TABLE_NAME, epoch, holder FROM scheduler_leader;
      RETURN NULL; END $$`)
  // One transaction per table: locks on two of them could deadlock with the servers' writes.
  await client.query(`DO $$ DECLARE name text; BEGIN
      FOR name IN SELECT quote_ident(relname) FROM pg_class
        WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> 'traced' LOOP
        EXECUTE format('CREATE TRIGGER trace AFTER INSERT OR UPDATE OR DELETE ON %s FOR EACH ROW EXECUTE FUNCTION trace()', name);
        COMMIT;
      END LOOP; END $$`)
  await client.end()
}

/** Returns the tables that this server wrote after another one took over from `epoch`, as the leader or not. */
const writtenBeyond = async (server: BerthProcess, { epoch, leading }: { epoch: number; leading: boolean }) =>
  (
    await sql<{ name: string }>(
      `SELECT DISTINCT name FROM traced
       WHERE server = $1 AND epoch > $2 AND (strpos(coalesce(holder, ''), $3) > 0) = $4 ORDER BY name`,
      [String(servers.indexOf(server)), epoch, `:${server.pid}:`, leading],
    )
  ).map(({ name }) => name)

/** Tables that every process writes, to number events, chain audit entries, and evaluate conditions. */
const everyProcess = [
  ...['account_tally', 'account_total', 'audit_entry', 'audit_head', 'event', 'feed_head', 'queue_tally'],
  ...['condition', 'condition_check', 'condition_event', 'server_process'],
]

/** A former leader writes only the tables that every process writes. */
async function expectNothingBeyond({ server, epoch }: { server: BerthProcess; epoch: number }) {
  const written = await writtenBeyond(server, { epoch, leading: false })
  expect(written.filter((name) => !everyProcess.includes(name))).toEqual([])
  const other = servers.find((each) => each !== server) as BerthProcess
  const byOther = await writtenBeyond(other, { epoch, leading: true })
  expect(byOther).toEqual(expect.arrayContaining(['job', 'pool_change', 'run']))
}

/** Thaws the server when it was frozen for the configured time since `since`. */
const thaw = async ({ server }: { server: BerthProcess }, since: number) => {
  await until(() => Date.now() - since >= freezeSeconds * 1_000, {
    what: 'it was frozen long enough',
  })
  process.kill(server.pid, 'SIGCONT')
}

test('repeated kills of the leader under load cause no second start of a job, and no start above a limit', {
  timeout: 120_000 + killSeconds * 3_000,
}, async () => {
  const client = new pg.Client({ connectionString: database.url })
  client.on('error', () => undefined)
  await client.connect()
  // Every start reports how many jobs hold resources then, including itself.
  await client.query(`CREATE TABLE seen (holding bigint);
    CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      INSERT INTO seen SELECT count(*) FROM run WHERE state IN ('STARTING', 'RUNNING', 'CANCELLING'); RETURN NULL; END $$;
    CREATE TRIGGER look AFTER UPDATE ON run FOR EACH STATEMENT EXECUTE FUNCTION look()`)
  await start()
  let submitted = 0
  let kills = 0
  const began = Date.now()
  while (Date.now() - began < killSeconds * 1_000) {
    await start()
    const { server } = await leading()
    const other = servers.find((each) => each !== server) as BerthProcess
    submitted += (await apiOf(other).submitAll(Array.from({ length: 60 }, () => simulated(0.05)))).length
    const before = await count("state = 'SUCCEEDED'")
    await until(async () => (await count("state = 'SUCCEEDED'")) > before + 10, { what: 'jobs end' })
    await apiOf(server).close()
    await server.end('SIGKILL')
    apis.splice(servers.indexOf(server), 1)
    servers.splice(servers.indexOf(server), 1)
    kills++
  }
  await until(async () => (await count("state = 'SUCCEEDED'")) === submitted, {
    what: 'all are done',
  })
  await client.query('DROP TRIGGER look ON run')
  expect(await sql('SELECT job_id FROM run')).toHaveLength(submitted)
  expect((await sql<{ most: number }>('SELECT max(holding) AS most FROM seen'))[0]?.most).toBeLessThanOrEqual(limit)
  expect(await findViolations(database.db.sql)).toEqual([])
  await client.end()
  expect(kills).toBeGreaterThan(0)
})

test('a leader that freezes while it is idle is replaced, and changes nothing when it thaws', async () => {
  await start()
  const frozen = await leading()
  const other = await start()
  await trace()
  const since = Date.now()
  process.kill(frozen.server.pid, 'SIGSTOP')
  await ledBeyond(frozen.epoch)
  const [first] = await apiOf(other).submitAll([simulated(0.1)])
  await until(() => count(`id = '${first}' AND state = 'SUCCEEDED'`), { what: 'it is done' })
  await thaw(frozen, since)
  const more = await apiOf(other).submitAll(Array.from({ length: 40 }, () => simulated(0.05)))
  await until(async () => (await count("state = 'SUCCEEDED'")) === more.length + 1, {
    what: 'all are done',
  })
  expect((await leading()).server).toBe(other)
  expect(await sql('SELECT job_id FROM run')).toHaveLength(more.length + 1)
  await expectNothingBeyond(frozen)
  expect(await findViolations(database.db.sql)).toEqual([])
})

test('a leader that freezes inside a start transaction does not start the job; the next leader starts it', async () => {
  await start()
  const frozen = await leading()
  const other = await start()
  await trace()
  const holder = new pg.Client({ connectionString: database.url })
  await holder.connect()
  await holder.query('BEGIN')
  await holder.query('SELECT 1 FROM node FOR UPDATE')
  const [id] = await apiOf(other).submitAll([simulated(0.1)])
  const waiting = () =>
    sql(
      "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%allocat%'",
    )
  await until(async () => (await waiting()).length > 0, { what: 'the start waits for the node' })
  const since = Date.now()
  process.kill(frozen.server.pid, 'SIGSTOP')
  await holder.query('ROLLBACK')
  await ledBeyond(frozen.epoch)
  await until(() => count(`id = '${id}' AND state = 'SUCCEEDED'`), { what: 'it is done' })
  await thaw(frozen, since)
  await apiOf(other).submitAll([simulated(0.1)])
  await until(async () => (await count("state = 'SUCCEEDED'")) === 2, { what: 'both are done' })
  expect(await sql('SELECT count(*) FROM run')).toEqual([{ count: 2 }])
  await expectNothingBeyond(frozen)
  expect(await findViolations(database.db.sql)).toEqual([])
  await holder.end()
})
