import { hash } from 'node:crypto'
import { advisoryLocks, tryLock } from '../../platform/advisory-locks.ts'
import { appendLine, createFileIfMissing } from '../../platform/lines.ts'
import { createLoop, type Loop } from '../../platform/loop.ts'
import { createRareLook } from '../../platform/rare-look.ts'
import type { Sql } from '../../platform/tx.ts'
import type { Domain } from '../domain.ts'

/**
 * The chain of the audit log. Each entry gets the next number and a hash over its fields, its number and the hash
 * before it, so no entry can be changed, removed or inserted without changing every later hash. Numbers grow in commit
 * order: a reader that has read up to n never finds a new entry at or before n.
 *
 * Every process runs the chainer, under a lock. It queries only after a transaction of its own process has ended, and
 * every five seconds for entries of a process that died.
 *
 * A person who can write to the database could chain a false log. So the process that chained a head logs it and
 * appends it to `audit.headFile` (`<seq> <hash> <time>`), at most once a minute and when it stops. audit-verify.ts
 * compares.
 */

export interface ChainedFields {
  id: string
  at: string
  actorId: string | null
  actorName: string
  action: string
  objectId: string | null
  ip: string | null
  token: string | null
  requestId: string | null
  /** The JSON as PostgreSQL writes it, so that numbers keep every digit. */
  detail: string | null
}

export const chainedColumns = `a.id, (extract(epoch FROM a.at) * 1000000)::bigint::text AS at, a.actor_id AS "actorId",
  a.actor_name AS "actorName", a.action, a.object_id AS "objectId", a.ip, a.token,
  a.request_id AS "requestId", a.detail::text AS detail`

export const firstPreviousHash = '0'.repeat(64)

export function hashEntry(before: string, seq: number, entry: ChainedFields): string {
  const { id, at, actorId, actorName, action, objectId, ip, token, requestId, detail } = entry
  const fields = [before, seq, id, at, actorId, actorName, action, objectId, ip, token, requestId, detail]
  return hash('sha256', JSON.stringify(fields))
}

export interface Head {
  seq: number
  hash: string
}

const pollMs = 5_000
/** Minimum pause between two queries. */
const pauseMs = 50
const batchMax = 2_000
const reportEveryMs = 60_000
/**
 * Most queries read only entries younger than this. While a transaction is open, such as a backup, chained entries stay
 * in the index of unchained ones, and reading past them is slow.
 */
const recentMs = 5_000
const readAllEveryMs = 5_000

export function createChainer(domain: Domain): Loop & { runOnce(): Promise<void> } {
  const { db, clock, time, log, auditHeadFile: path } = domain
  let unreported: Head | undefined
  let reportedMs = Number.NEGATIVE_INFINITY
  let prepared = false
  const lookAtAll = createRareLook({ clock, everyMs: readAllEveryMs, pauseMsMax: readAllEveryMs })

  /** If the write fails, the next head is written instead; chaining does not wait for the file. */
  async function writeHeadFile(work: (path: string) => Promise<void>) {
    if (path == null) return
    await work(path).catch((error: unknown) => log.error({ err: error }, 'cannot write the head file of the audit log'))
  }

  async function reportHead() {
    if (!unreported) return
    const line = formatHeadLine(unreported, time.nowMs())
    log.info({ seq: unreported.seq, hash: unreported.hash }, 'the head of the audit log')
    unreported = undefined
    reportedMs = clock.monotonicMs()
    await writeHeadFile((file) => appendLine(file, line))
  }

  async function chainSince(sinceMs: number) {
    for (let head = await chainOnce(domain, sinceMs); head; head = await chainOnce(domain, sinceMs)) unreported = head
  }

  async function runOnce() {
    if (!prepared) await writeHeadFile(createFileIfMissing)
    prepared = true
    // After a pause, older entries may be unchained too; chaining them first keeps the order.
    if (lookAtAll.isDue()) await lookAtAll.run(() => chainSince(0))
    else await chainSince(time.nowMs() - recentMs)
    if (clock.monotonicMs() - reportedMs >= reportEveryMs) await reportHead()
  }

  async function runSpaced(signal: AbortSignal) {
    await runOnce()
    await clock.sleep(pauseMs, signal)
  }

  const loop = createLoop({ name: 'audit chain', pollMs, clock, log, runOnce: runSpaced })
  const unlisten = db.onTransactionEnded(loop.wake)
  return {
    ...loop,
    runOnce,
    async stop() {
      unlisten()
      await loop.stop()
      await reportHead()
    },
  }
}

const formatHeadLine = ({ seq, hash }: Head, nowMs: number) => `${seq} ${hash} ${new Date(nowMs).toISOString()}`

/** undefined: the line is incomplete, because the server crashed while it wrote the line. */
export function parseHeadLine(line: string): Head | undefined {
  const [, seq, hash] = /^(\d{1,15}) ([0-9a-f]{64}) \S+$/.exec(line) ?? []
  return seq === undefined || hash === undefined ? undefined : { seq: Number(seq), hash }
}

export async function chainAll(domain: Pick<Domain, 'db'>): Promise<void> {
  while (await chainOnce(domain));
}

/** Chains at most one batch. Returns the new head; undefined: all entries are chained, or another process is chaining. */
export async function chainOnce({ db }: Pick<Domain, 'db'>, sinceMs = 0): Promise<Head | undefined> {
  const [waiting] = await db.sql.query(
    'SELECT 1 FROM audit_entry WHERE seq IS NULL AND at >= to_timestamp($1::float8 / 1000) LIMIT 1',
    [sinceMs],
    'audit_waiting',
  )
  if (!waiting) return undefined
  return db.transaction(async (sql) =>
    (await tryLock(sql, advisoryLocks.auditChain)) ? chainBatch(sql, sinceMs) : undefined,
  )
}

/** Runs under the lock of the chain, so it reads everything that the process with the lock before wrote. */
async function chainBatch(sql: Sql, sinceMs: number): Promise<Head | undefined> {
  const [start] = await sql.query<Head>('SELECT seq, hash FROM audit_head', [], 'audit_head')
  if (!start) throw new Error('The head of the audit log is missing')
  const entries = await sql.query<ChainedFields>(
    `SELECT ${chainedColumns} FROM audit_entry a WHERE a.seq IS NULL AND a.at >= to_timestamp($2::float8 / 1000)
     ORDER BY a.at, a.id LIMIT $1`,
    [batchMax, sinceMs],
    'audit_unchained',
  )
  let head = start
  const links = entries.map((entry) => {
    head = { seq: head.seq + 1, hash: hashEntry(head.hash, head.seq + 1, entry) }
    return { id: entry.id, ...head }
  })
  if (links.length === 0) return undefined
  await sql.query(linkSql, [JSON.stringify(links), head.seq, head.hash], 'audit_link')
  return head
}

const linkSql = `
WITH moved AS (UPDATE audit_head SET seq = $2, hash = $3)
UPDATE audit_entry SET seq = l.seq, hash = l.hash
FROM jsonb_to_recordset($1::text::jsonb) AS l(id text, seq bigint, hash text) WHERE audit_entry.id = l.id`
