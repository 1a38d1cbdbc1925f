import { freemem, loadavg, totalmem } from 'node:os'
import type pg from 'pg'
import { advisoryLocks } from '../platform/advisory-locks.ts'
import type { Clock } from '../platform/clock.ts'
import { type Address, createPgClient, disconnect } from '../platform/connection.ts'
import type { Db } from '../platform/db.ts'
import type { Log } from '../platform/log.ts'
import type { Sql, TransactionOptions } from '../platform/tx.ts'

export interface LeadershipOptions {
  address: Address
  key: string
  holder: string
  host: string
  /** Location of the data directory to which the key is bound; null: the key is not bound. */
  place: string | null
  /**
   * false: the connection goes through a transaction pooler, which shares sessions. Then no advisory lock is used, and
   * a take-over is up to 7 s slower.
   */
  direct: boolean
  clock: Clock
  log: Log
  /** Called before this process takes the key; false leaves the key to other processes. Absent: always true. */
  canServe?: (() => Promise<boolean>) | undefined
  onGained(epoch: number): void
  /** Called once after every `onGained`, also on a clean stop. */
  onLost(): void
}

export interface Leader {
  pool: string
  epoch: number
  /**
   * The process that leads. The epoch alone is not enough: a failover may lose a take-over and give its epoch to
   * another contender.
   */
  holder: string
}

/** Thrown if another epoch or process leads: the caller must drop its decisions and its cached state. */
export class Fenced extends Error {
  override name = 'Fenced'
}

/** SQL that selects the row of scheduler_leader if this leader still leads. */
export const leadingSql = (key: string, epoch: string, holder: string) =>
  `FROM scheduler_leader WHERE pool = ${key} AND epoch = ${epoch} AND holder = ${holder}`

/** Must be the first statement of every decision of a leader; throws Fenced when it no longer leads. */
export async function fence(sql: Sql, leader: Leader): Promise<void> {
  const { pool, epoch, holder } = leader
  const rows = await sql.query(`SELECT 1 ${leadingSql('$1', '$2', '$3')} FOR SHARE`, [pool, epoch, holder], 'fence')
  if (rows.length === 0) throw makeEpochOverError(leader)
}

export const runAsLeader = <T>(
  { db }: { db: Pick<Db, 'transaction'> },
  leader: Leader,
  work: (sql: Sql) => Promise<T>,
  options?: TransactionOptions,
): Promise<T> =>
  db.transaction(async (sql) => {
    await fence(sql, leader)
    return work(sql)
  }, options)

/** Waits for `work`. Ignores Fenced, because the term of this leader ends soon. */
export async function ignoreFenced(work: Promise<unknown>): Promise<void> {
  try {
    await work
  } catch (error) {
    if (!(error instanceof Fenced)) throw error
  }
}

export const makeEpochOverError = ({ pool, epoch }: Leader) => new Fenced(`Epoch ${epoch} of ${pool} is over`)

/**
 * Returns whether the key had no leader for `silentMs`, and keeps it vacant until the open transaction ends. An old
 * leader must take over again, so changes that it has not read may be removed.
 */
export async function lockVacantKey(sql: Sql, key: string, silentMs: number): Promise<boolean> {
  // This lock makes the next statement see every earlier take-over.
  await sql.query(
    `INSERT INTO scheduler_leader (pool, epoch) VALUES ($1, 0)
     ON CONFLICT (pool) DO UPDATE SET epoch = scheduler_leader.epoch`,
    [key],
  )
  const vacated = await sql.query(
    `UPDATE scheduler_leader SET epoch = epoch + (holder IS NOT NULL)::int, holder = NULL, host = NULL
     WHERE pool = $1 AND NOT EXISTS (
       SELECT FROM scheduler_lease WHERE pool = $1 AND renewed_at > berth_now() - $2 * interval '1 millisecond')
     RETURNING 1`,
    [key, silentMs],
  )
  return vacated.length > 0
}

export const leaseTtlMs = 7_000

/** SQL condition over `leader` (scheduler_leader) and `lease` (scheduler_lease): a process leads now. */
export const ledSql = `leader.holder IS NOT NULL
  AND lease.renewed_at > berth_now() - ${leaseTtlMs} * interval '1 millisecond'`

export const isLedSql = (key: string) =>
  `EXISTS (SELECT FROM scheduler_leader leader JOIN scheduler_lease lease USING (pool) WHERE leader.pool = ${key} AND ${ledSql})`

export async function readLedPools(sql: Sql): Promise<string[]> {
  const rows = await sql.query<{ name: string }>(`SELECT name FROM pool WHERE ${isLedSql('pool.name')} ORDER BY name`)
  return rows.map(({ name }) => name)
}

export const renewMs = 2_000
const competeMs = 250
const reconnectMs = 500
const courtesyMs = 5_000
/**
 * Maximum time of a renewal. `renewMs` plus this is less than the lease, so a leader without its database steps down
 * before another process takes over.
 */
const queryMsMax = 4_500

/**
 * One leader per key over any number of processes.
 *
 * **The epoch row is the truth** (scheduler_leader). A take-over adds one to the epoch by compare-and-set. Every
 * decision of a leader begins with `fence`, which reads that row FOR SHARE: a take-over waits until the decision is
 * committed, and a decision after a take-over is refused. `fence` also compares the holder, because a standby that lost
 * the take-over gives the same epoch to another contender.
 *
 * **The lease is a second row** (scheduler_lease), renewed every 2 s; in the row of the epoch, renewals and decisions
 * would wait for each other. A key is free if its lease is older than 7 s of database time, or if it has no holder: a
 * clean stop removes the holder.
 *
 * **An advisory lock speeds up**, and never decides, because a frozen process keeps its lock. The leader of epoch e
 * holds the lock of (key, e) in the session of its own connection. A contender that finds the lock free does not wait
 * for the lease. The lock of e + 1 is taken before the epoch is, so every new leader has its lock, and an old leader
 * that thaws cannot release it. A contender that freezes between lock and take-over blocks others for two lease times.
 *
 * **Stepping down**: a renewal that fails, takes too long or finds another epoch, or a broken connection, ends the
 * leadership in this process; it then competes again. PostgreSQL ends a session that freezes inside a transaction after
 * 3 s (`idle_in_transaction_session_timeout`), so no leader holds the fence for ever.
 *
 * **A key bound to a data directory** may have contenders in several places, because the directory was copied. A
 * contender in another place than the last leader always waits until the lease is too old, so a copy cannot take the
 * runs of an original that restarts.
 *
 * **A process that cannot serve the key** (`canServe`: the backend is unreachable) leaves a free key to others for
 * `courtesyMs`. A leader that can no longer serve hands over if there are others. Behind a pooler it does not see them,
 * and stays.
 */
export class Leadership {
  readonly #options: LeadershipOptions
  readonly #stopping = new AbortController()
  #epoch: number | null = null
  #givesWay = false
  /** Since when no process leads; null: another process does. */
  #freeSinceMs: number | null = null
  #running: Promise<void> | undefined
  #copyLeads = false

  constructor(options: LeadershipOptions) {
    this.#options = options
  }

  get epoch(): number | null {
    return this.#epoch
  }

  start(): void {
    this.#running ??= this.#run()
  }

  /** Gives up the leadership if another process competes. Competes again if no other process takes the key. */
  giveWay(): void {
    this.#givesWay = this.#epoch !== null
  }

  /** Removes the holder, so another process takes over at its next poll. The leader must have ended all work before. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #run() {
    const { clock, log, key } = this.#options
    while (!this.#stopping.signal.aborted) {
      const lost = new AbortController()
      const client = createClient(this.#options, lost)
      try {
        await client.connect()
        await this.#compete(client, AbortSignal.any([this.#stopping.signal, lost.signal]))
        if (lost.signal.aborted) throw lost.signal.reason
      } catch (error) {
        log.warn({ err: error, key, epoch: this.#epoch }, 'the connection of the leadership failed')
      }
      const led = this.#epoch
      this.#stepDown()
      if (led !== null && (this.#stopping.signal.aborted || this.#givesWay)) await this.#handOver(client, led)
      this.#givesWay = false
      await disconnect(client)
      await clock.sleep(reconnectMs, this.#stopping.signal)
    }
  }

  /** Competes until it is stopped, gives way, or another process leads. */
  async #compete(client: pg.Client, signal: AbortSignal) {
    const { clock, log, key, direct } = this.#options
    await ensureRows(client, key)
    while (!signal.aborted) {
      const epoch = this.#epoch
      if (epoch !== null) {
        if (this.#givesWay && direct && (await hasRivals(client, key))) return log.info({ key, epoch }, 'gives way')
        this.#givesWay = false
        if (!(await renew(client, this.#options, epoch))) return log.warn({ key, epoch }, 'another process leads now')
      } else await this.#takeOver(client)
      await clock.sleep(this.#epoch === null ? competeMs : renewMs, signal)
    }
  }

  async #takeOver(client: pg.Client) {
    const { log, key, onGained } = this.#options
    let isFree = false
    const taken = await tryTakeOver(client, this.#options, () => {
      isFree = true
      return this.#mayTake()
    })
    if (!isFree) this.#freeSinceMs = null
    this.#logCopy(taken === 'COPY')
    if (typeof taken !== 'number') return
    this.#epoch = taken
    this.#freeSinceMs = null
    log.info({ key, epoch: taken }, 'leads')
    onGained(taken)
  }

  async #mayTake(): Promise<boolean> {
    const { clock, canServe } = this.#options
    this.#freeSinceMs ??= clock.monotonicMs()
    if (canServe === undefined || clock.monotonicMs() - this.#freeSinceMs >= courtesyMs) return true
    return canServe()
  }

  #logCopy(leads: boolean) {
    const { log, key } = this.#options
    if (leads && !this.#copyLeads)
      log.warn(
        { key },
        'another copy of this data directory leads the pool; this server runs no job until that leader ends',
      )
    this.#copyLeads = leads
  }

  #stepDown() {
    const { log, key, onLost } = this.#options
    if (this.#epoch === null) return
    log.info({ key, epoch: this.#epoch }, 'leads no more')
    this.#epoch = null
    onLost()
  }

  async #handOver(client: pg.Client, led: number) {
    const { log, key, holder } = this.#options
    await client
      .query('UPDATE scheduler_leader SET holder = NULL, host = NULL WHERE pool = $1 AND epoch = $2 AND holder = $3', [
        key,
        led,
        holder,
      ])
      .catch((error: unknown) => log.warn({ err: error, key }, 'could not hand over; the lease expires instead'))
  }
}

const connectionName = (key: string) => `berth leadership ${key}`

function createClient({ address, direct, key }: LeadershipOptions, lost: AbortController): pg.Client {
  const client = createPgClient({ address, name: connectionName(key), statementMsMax: queryMsMax, direct })
  client.on('error', (error) => lost.abort(error))
  client.on('end', () => lost.abort(new Error('The connection ended')))
  return client
}

async function ensureRows(client: pg.Client, key: string) {
  await client.query(
    `WITH leader AS (INSERT INTO scheduler_leader (pool, epoch) VALUES ($1, 0) ON CONFLICT DO NOTHING)
     INSERT INTO scheduler_lease (pool, renewed_at) VALUES ($1, berth_now()) ON CONFLICT DO NOTHING`,
    [key],
  )
}

async function renew(
  client: pg.Client,
  { key, holder }: Pick<LeadershipOptions, 'key' | 'holder'>,
  epoch: number,
): Promise<boolean> {
  const { rowCount } = await client.query(
    `UPDATE scheduler_lease AS lease SET renewed_at = berth_now(), load5 = $4, memory_percent = $5
       FROM scheduler_leader AS leader
       WHERE lease.pool = $1 AND leader.pool = lease.pool AND leader.epoch = $2 AND leader.holder = $3`,
    [key, epoch, holder, ...measureMachine()],
  )
  return rowCount === 1
}

/** true: other processes compete for the key, as far as this database account can see them. */
async function hasRivals(client: pg.Client, key: string): Promise<boolean> {
  const { rows } = await client.query(
    `SELECT 1 FROM pg_stat_activity
     WHERE application_name = left($1, 63) AND datname = current_database() AND pid <> pg_backend_pid() LIMIT 1`,
    [connectionName(key)],
  )
  return rows.length > 0
}

/** Load average of five minutes, and memory in use in per cent. */
const measureMachine = (): [load5: number, memory: number] => [
  loadavg()[1] ?? 0,
  Math.round((1 - freemem() / totalmem()) * 1000) / 10,
]

interface Standing {
  epoch: string
  held: boolean
  host: string | null
  place: string | null
  age_ms: number
}

/**
 * Returns the new epoch. null: another process leads, or has precedence. COPY: a process in a copy of this data directory
 * leads.
 */
async function tryTakeOver(
  client: pg.Client,
  options: LeadershipOptions,
  mayTake: () => Promise<boolean>,
): Promise<number | 'COPY' | null> {
  const { key, holder, host, place, direct } = options
  const { rows } = await client.query<Standing>(
    `SELECT leader.epoch, leader.holder IS NOT NULL AS held, leader.host, leader.place,
            extract(epoch FROM berth_now() - lease.renewed_at)::float8 * 1000 AS age_ms
       FROM scheduler_leader AS leader JOIN scheduler_lease AS lease USING (pool) WHERE pool = $1`,
    [key],
  )
  const standing = rows[0]
  if (!standing) return null
  const epoch = Number(standing.epoch)
  const isFromElsewhere = standing.place !== null && standing.place !== place
  const free =
    standing.age_ms > leaseTtlMs ||
    (!isFromElsewhere &&
      (!standing.held || (direct && (await tryLock(client, 'pg_try_advisory_xact_lock_shared', key, epoch)))))
  if (!free) return isFromElsewhere && standing.held ? 'COPY' : null
  if (!(await mayTake())) return null
  const contended = direct && !(await tryLock(client, 'pg_try_advisory_lock', key, epoch + 1))
  if (contended && standing.age_ms <= 2 * leaseTtlMs) return null
  const { rowCount } = await client.query(
    `WITH taken AS (
       UPDATE scheduler_leader SET epoch = epoch + 1, holder = $3, host = $4, place = $7 WHERE pool = $1 AND epoch = $2 RETURNING pool
     )
     UPDATE scheduler_lease SET renewed_at = berth_now(), load5 = $5, memory_percent = $6
     FROM taken WHERE scheduler_lease.pool = taken.pool`,
    [key, epoch, holder, host, ...measureMachine(), place],
  )
  if (rowCount === 1) return epoch + 1
  if (direct) await client.query('SELECT pg_advisory_unlock_all()')
  return null
}

/** The shared lock is released at the end of the statement, so checks have no effect and do not block each other. */
async function tryLock(
  client: pg.Client,
  lock: 'pg_try_advisory_xact_lock_shared' | 'pg_try_advisory_lock',
  key: string,
  epoch: number,
): Promise<boolean> {
  const { rows } = await client.query<{ got: boolean }>(`SELECT ${lock}($1, hashtext($2)) AS got`, [
    advisoryLocks.leadership,
    `${key}:${epoch}`,
  ])
  return rows[0]?.got === true
}
