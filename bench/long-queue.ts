import pg from 'pg'
import type { Viewer } from '../src/domain/access.ts'
import { createViewer } from '../src/domain/access.ts'
import { type Domain, topics } from '../src/domain/domain.ts'
import type { Leader } from '../src/domain/leadership.ts'
import { applyPools, type DeclaredNode, ensureLocalUser } from '../src/domain/machines/pools.ts'
import { submitAll } from '../src/domain/submission/submit.ts'
import { systemClock } from '../src/platform/clock.ts'
import { readDatabaseTime } from '../src/platform/database-time.ts'
import { openDb } from '../src/platform/db.ts'
import { createLog } from '../src/platform/log.ts'
import { migrate } from '../src/platform/migrate.ts'
import { Wakeups } from '../src/platform/wakeup.ts'

/** A pool of many nodes with a long queue. Its rows are copies of those of one submission. */
export interface LongQueue extends AsyncDisposable {
  domain: Domain
  leader: Leader
}

export interface Length {
  jobs: number
  lanes: number
  nodes: number
  /**
   * Number of users who own the lanes in rotation, with priorities of four levels; default: one user with one priority.
   */
  people?: number
  /** Lanes of the largest account; each of the others has its own account. */
  greatLanes?: number
}

const connectionsMax = 4

export async function openLongQueue(url: string, length: Length): Promise<LongQueue> {
  const { nodes } = length
  const log = createLog('warn')
  await migrate(url, log)
  const db = openDb({ address: { url }, connectionsMax, log, applicationName: 'berth bench' })
  const wakeups = new Wakeups({ address: null, topics, clock: systemClock, log })
  const domain: Domain = {
    db,
    wakeups,
    clock: systemClock,
    time: await readDatabaseTime(db.sql, systemClock),
    log,
    singleUser: true,
  }
  await applyPools(domain, {
    pools: [
      {
        name: 'sim',
        policy: 'FAIR_SHARE',
        executors: ['simulated'],
        relaxReplicas: true,
        nodes: Array.from({ length: nodes }, (_, i) => nodeOf(i)),
        scheduling: { nonPreemptableFraction: 1, rotationQuantumMs: -1 },
      },
    ],
    queues: [{ name: 'default', pool: 'sim', native: {} }],
  })
  await makeJobs(domain, length)
  await db.sql.query("INSERT INTO scheduler_leader (pool, epoch, holder, host) VALUES ('sim', 1, 'bench', 'bench')")
  return {
    domain,
    leader: { pool: 'sim', epoch: 1, holder: 'bench' },
    async [Symbol.asyncDispose]() {
      await wakeups.stop()
      await db.close()
    },
  }
}

const nodeOf = (i: number): DeclaredNode => ({
  name: `n${i}`,
  cpuMillis: 64_000,
  memoryBytes: 2 ** 40,
  cpuModel: null,
  infiniband: false,
  devices: Array.from({ length: 8 }, (_, index) => ({
    index,
    model: 'V100',
    memoryGib: 32,
    tensorCores: true,
    cuda: [],
  })),
})

async function makeJobs(domain: Domain, length: Length): Promise<void> {
  const { jobs, lanes, people = 0, greatLanes = 0 } = length
  const id = await ensureLocalUser(domain, 'local')
  const viewer: Viewer = createViewer({ id, name: 'local', level: 'ADMIN', allow: [], deny: [] })
  const resources = { cpu: 1, memoryBytes: 1, gpu: 1 }
  const environment = [{ name: 'SIM_RUN_SECONDS', value: '86400' }]
  const [made] = await submitAll(domain, viewer, [{ spec: { command: ['true'], resources, environment } }])
  if (!made || !('jobId' in made)) throw made
  const { sql } = domain.db
  await sql.query(
    `INSERT INTO "user" (id, name, level) SELECT 'user_bench' || n, 'person' || n, 'RESEARCHER' FROM generate_series(0, $1::int - 1) n`,
    [people],
  )
  await sql.query(
    `INSERT INTO lane SELECT made.* FROM (SELECT to_jsonb(l) AS row FROM lane l) l, generate_series(1, $1::int) n,
       LATERAL jsonb_populate_record(NULL::lane, row || jsonb_build_object('id', md5(n::text)::uuid,
         'account', 'account' || CASE WHEN n <= $3::int THEN 0 ELSE n END) || CASE WHEN $2::int = 0 THEN '{}'
         ELSE jsonb_build_object('user_id', 'user_bench' || n % greatest($2::int, 1), 'priority', n % 4 * 10) END) made`,
    [lanes, people, greatLanes],
  )
  // A separate connection: these statements take longer than a server allows.
  const client = new pg.Client({ connectionString: domain.db.url })
  await client.connect()
  try {
    await inBulk(client, () => copy(client, { jobs, lanes, like: made.jobId }))
    await client.query('DELETE FROM job WHERE id = $1', [made.jobId])
    await client.query('DELETE FROM pool_change')
    await client.query('VACUUM ANALYZE')
  } finally {
    await client.end()
  }
}

// ── rows in bulk ──

const filled = ['job', 'run', 'queue_entry', 'event']

/** Fills tables without triggers, and creates the indexes afterwards. */
async function inBulk(client: pg.Client, fill: () => Promise<void>): Promise<void> {
  const indexes = await client.query<{ name: string; made: string }>(
    `SELECT c.relname AS name, pg_get_indexdef(c.oid) AS made FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
     WHERE i.indrelid = ANY($1::regclass[]) AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = c.oid)`,
    [filled],
  )
  await client.query('BEGIN')
  await client.query("SET LOCAL session_replication_role = replica; SET LOCAL maintenance_work_mem = '256MB'")
  for (const { name } of indexes.rows) await client.query(`DROP INDEX ${client.escapeIdentifier(name)}`)
  await fill()
  for (const { made } of indexes.rows) await client.query(made)
  await client.query('COMMIT')
}

interface Rows {
  jobs: number
  lanes: number
  /** The job that is copied. */
  like: string
}

/** Copies of the job, submitted 100 a second. */
async function copy(client: pg.Client, { jobs, lanes, like }: Rows): Promise<void> {
  const own = ['id', 'lane_id', 'sequence', 'account', 'user_id']
  const alike = await columnsBut(client, own)
  const named = (kind: string) => `'${kind}_bench' || lpad(n::text, 20, '0')`
  const steps = [
    `CREATE TEMP TABLE numbered ON COMMIT DROP AS
       SELECT n, l.id AS lane, l.user_id, l.account, l.priority, j.sequence + 1 + n AS sequence,
         ${named('job')} AS job_id, ${named('run')} AS run_id,
         berth_now() - interval '3 hours' + n * interval '10 milliseconds' AS since
       FROM generate_series(0, ${jobs - 1}) n JOIN lane l ON l.id = md5((1 + n % ${lanes})::text)::uuid
       JOIN job j ON j.id = ${client.escapeLiteral(like)}
       ORDER BY n`,
    `INSERT INTO job (${own.join()}, ${alike.join()})
       SELECT m.job_id, m.lane, m.sequence, m.account, m.user_id, ${alike.map((column) => `j.${column}`).join()}
       FROM numbered m, job j WHERE j.id = ${client.escapeLiteral(like)}`,
    "INSERT INTO run (id, job_id, number, pool, state) SELECT run_id, job_id, 1, 'sim', 'QUEUED' FROM numbered",
    `INSERT INTO queue_entry (job_id, pool, lane_id, band, bid, sequence, open, eligible_at, run_id, run)
       SELECT job_id, 'sim', lane, priority, 0, sequence, true, since, run_id, 1 FROM numbered`,
    `INSERT INTO event (job_id, seq, at, type, to_state, run)
       SELECT job_id, 1, since, 'CREATED', 'QUEUED', 1 FROM numbered`,
    `INSERT INTO queue_tally (pool, band, chunk, open, entries, since_min, since_max)
       SELECT pool, band, berth_chunk(sequence), open, count(*), min(eligible_at), max(eligible_at)
       FROM queue_entry WHERE job_id LIKE 'job_bench%' GROUP BY 1, 2, 3, 4`,
    `INSERT INTO account_tally (pool, part, bid, chunk, entries)
       SELECT 'sim', berth_part(account), 0, berth_chunk(sequence), count(*) FROM numbered GROUP BY 1, 2, 3, 4`,
    "INSERT INTO account_total (pool, account, entries) SELECT 'sim', account, count(*) FROM numbered GROUP BY 1, 2",
    "SELECT setval(pg_get_serial_sequence('job', 'sequence'), max(sequence)) FROM numbered",
  ]
  for (const step of steps) await client.query(step)
}

async function columnsBut(client: pg.Client, but: readonly string[]): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT quote_ident(attname) AS name FROM pg_attribute
     WHERE attrelid = 'job'::regclass AND attnum > 0 AND NOT attisdropped AND attname <> ALL($1) AND attgenerated = ''`,
    [but],
  )
  return rows.map(({ name }) => name)
}
