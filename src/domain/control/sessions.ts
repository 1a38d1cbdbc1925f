import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { readNow } from '../../platform/database-time.ts'
import type { Sql, Tx } from '../../platform/tx.ts'
import { createViewer, demand, demandMayActOn, mayActOn, type Person, type Viewer } from '../access.ts'
import { audit } from '../audit/audit.ts'
import type { Domain } from '../domain.ts'
import { InvalidState, jobNotFound, NotFound, QuotaExceeded } from '../errors.ts'
import { findTraits } from '../executors.ts'
import { newId } from '../ids.ts'
import { jobChangeSql } from '../jobs/job-change.ts'
import { parseInput } from '../parse.ts'

import { lockUser } from '../user-lock.ts'

/**
 * Sessions: a command in a running job, or ports of it that are forwarded. A mutation decides, audits and returns a
 * ticket; the server that takes the ticket holds the session, reports its bytes, and ends it. What is typed and printed
 * is not stored.
 */

const ticketSeconds = 60
/** A session is over if its server has not reported it for this time. */
const silentSeconds = 30
export const sessionsPerUserMax = 20
/** A person who logged in with an OpenID provider has no token that could be revoked. */
const loginHoursMax = 24
export const sessionsListedMax = 100
const commandBytesMax = 131_072
const auditedCharactersMax = 1_000
const commandShownMax = 200

const countBytes = (words: readonly string[]) => words.reduce((sum, word) => sum + Buffer.byteLength(word), 0)

/** Cuts the command to `auditedCharactersMax` characters. */
function shorten(command: readonly string[]): string[] {
  const kept: string[] = []
  let left = auditedCharactersMax
  for (const word of command) {
    if (left <= 0) return [...kept, '…']
    kept.push(word.length > left ? `${word.slice(0, left)}…` : word)
    left -= word.length + 1
  }
  return kept
}

const place = { jobId: z.string(), run: z.int().min(1, 'must be 1 or more').nullish() }
const edge = z.int().min(1, 'must be 1 … 9,999').max(9_999, 'must be 1 … 9,999')
const commandInput = z.strictObject({
  ...place,
  command: z
    .array(z.string().max(131_071, 'must have at most 131,071 characters'))
    .max(1_000, 'must have at most 1,000 words')
    .refine((words) => countBytes(words) <= commandBytesMax, 'must have at most 131,072 bytes in all its words')
    .nullish(),
  size: z.strictObject({ columns: edge, rows: edge }).nullish(),
})
const portInput = z.strictObject({
  ...place,
  port: z.int().min(1, 'must be 1 … 65,535').max(65_535, 'must be 1 … 65,535'),
})

interface Asked {
  jobId: string
  run?: number | null | undefined
  command: readonly string[]
  port: number | null
  size: { columns: number; rows: number } | null
}

export interface Ticket {
  sessionId: string
  ticket: string
  expiresAt: Date
}

export function openCommand(domain: Domain, viewer: Viewer, raw: unknown): Promise<Ticket> {
  const { command, size, ...rest } = parseInput(commandInput, raw)
  return open(domain, viewer, { ...rest, command: command ?? [], port: null, size: size ?? null })
}

export const openPort = (domain: Domain, viewer: Viewer, raw: unknown): Promise<Ticket> =>
  open(domain, viewer, { ...parseInput(portInput, raw), command: [], size: null })

async function open(domain: Domain, viewer: Viewer, asked: Asked): Promise<Ticket> {
  const sessionId = newId('session', domain.time.nowMs())
  const secret = randomBytes(32).toString('base64url')
  const { command, port, size } = asked
  // Not serializable, because concurrent commands in one job would conflict on the row of the job.
  const createdAt = await domain.db.transaction(async (sql) => {
    await lockUser(sql, viewer.userId)
    const job = await demandRunning(sql, viewer, asked)
    await demandFree(sql, viewer)
    const now = await readNow(sql)
    const session = [sessionId, job.id, job.runId, job.run, command, port, size?.columns ?? null, size?.rows ?? null]
    const caller = [viewer.userId, viewer.token, viewer.ip, findExpiry(viewer, now)]
    await sql.query(insertSql, [...session, ...caller, hashSecret(secret), now])
    const detail = {
      jobId: job.id,
      run: job.run,
      ...(port === null ? { command: shorten(command), tty: size !== null } : { port }),
    }
    await audit(sql, viewer, [{ action: 'session.open', objectId: sessionId, detail }], domain.time.nowMs())
    return now
  })
  return {
    sessionId,
    ticket: `${sessionId}.${secret}`,
    expiresAt: new Date(createdAt.getTime() + ticketSeconds * 1_000),
  }
}

const insertSql = `
INSERT INTO job_session (id, job_id, run_id, run, command, port, columns, rows, user_id, token, ip, expires_at, ticket_hash,
  created_at)
VALUES ($1, $2, $3, $4, $5::text[], $6, $7, $8, $9, $10, $11, $12, $13, $14)`

const hashSecret = (secret: string): Buffer => hash('sha256', secret, 'buffer')

function findExpiry({ token, expiresAtMs }: Viewer, now: Date): Date | null {
  if (expiresAtMs === null) return null
  return new Date(token === null ? now.getTime() + loginHoursMax * 3_600_000 : expiresAtMs)
}

interface OpenJob {
  id: string
  userId: string
  sharesTeam: boolean
  state: string
  executor: string
  pool: string
  permitted: boolean
  run: number
  runId: string
}

async function demandRunning(sql: Sql, viewer: Viewer, { jobId, run, port }: Asked): Promise<OpenJob> {
  const [job] = await sql.query<OpenJob>(openJobSql, [jobId, viewer.userId])
  if (!job) throw jobNotFound(jobId)
  demandMayActOn(viewer, job, 'exec')
  if (job.state !== 'RUNNING') throw new InvalidState(`The job is ${job.state}, not RUNNING`, jobId)
  if (run != null && run !== job.run) throw new InvalidState(`Run ${run} is over; run ${job.run} is running`, jobId)
  if (!job.permitted) throw new InvalidState(`The pool ${job.pool} permits no sessions`, jobId)
  const verb = port === null ? 'exec' : 'connect'
  if (!findTraits(job.executor).sessions.includes(verb)) {
    const what = port === null ? 'run commands in' : 'connect to ports of'
    throw new InvalidState(`The server cannot ${what} jobs of the executor ${job.executor}`, jobId)
  }
  return job
}

const openJobSql = `
SELECT j.id, j.user_id AS "userId", j.state::text AS state, j.executor, j.pool, p.exec AS permitted, r.number AS run, r.id AS "runId",
  EXISTS (SELECT FROM team_member m WHERE m.team_id = j.team_id AND m.user_id = $2) AS "sharesTeam"
FROM job j JOIN run r ON r.job_id = j.id AND r.number = j.run_number JOIN pool p ON p.name = j.pool
WHERE j.id = $1`

const isOpenSql = `ended_at IS NULL AND CASE WHEN opened_at IS NULL
  THEN created_at > (SELECT berth_now()) - ${ticketSeconds} * interval '1 second'
  ELSE seen_at > (SELECT berth_now()) - ${silentSeconds} * interval '1 second' END`

async function demandFree(sql: Sql, { userId, userName }: Viewer): Promise<void> {
  const [{ used = 0 } = {}] = await sql.query<{ used: number }>(
    `SELECT count(*)::int AS used FROM job_session WHERE user_id = $1 AND ${isOpenSql}`,
    [userId],
  )
  if (used < sessionsPerUserMax) return
  const facts = { quota: 'SESSIONS', scope: `user:${userName}`, limit: sessionsPerUserMax, used }
  throw new QuotaExceeded(`You have ${used} sessions, the maximum; end one of them`, {
    code: 'QUOTA_EXCEEDED',
    ...facts,
  })
}

/** A session whose ticket was taken, with the data that the server needs to enter the run. */
export interface TakenSession {
  id: string
  jobId: string
  runId: string
  run: number
  command: readonly string[]
  port: number | null
  columns: number | null
  rows: number | null
  pool: string
  executor: string
  handle: string
  unixUser: string | null
  viewer: Viewer
}

interface TicketRow extends Omit<TakenSession, 'viewer'> {
  hash: Buffer
  owner: { userId: string; sharesTeam: boolean }
  person: Person
  token: string | null
  expiresAt: Date | null
}

export const parseTicket = (ticket: string): { sessionId: string; secret: string } | null => {
  const [, sessionId, secret] = /^(session_[0-9a-z]{26})\.([\w-]{43})$/.exec(ticket) ?? []
  return sessionId === undefined || secret === undefined ? null : { sessionId, secret }
}

export interface PortOfJob {
  jobId: string
  port: number
}

export interface TicketUse {
  ticket: string
  ip: string | null
  /** The caller; null: the ticket is the only credential. */
  userId: string | null
  /** The port that the request goes to; a ticket for another port is refused. */
  at?: PortOfJob
}

/**
 * Takes a ticket. null: the ticket is forged, already used, expired, of another user or for another port, or
 * its user lost access to the job.
 */
export async function takeTicket(
  { db, wakeups }: Domain,
  { ticket, ip, userId, at }: TicketUse,
): Promise<TakenSession | null> {
  const parsed = parseTicket(ticket)
  if (!parsed) return null
  const [row] = await db.sql.query<TicketRow>(ticketSql, [parsed.sessionId])
  if (!row || !timingSafeEqual(row.hash, hashSecret(parsed.secret))) return null
  const { hash: _hash, owner, person, token, expiresAt, ...session } = row
  if (at && (session.jobId !== at.jobId || session.port !== at.port)) return null
  const viewer = createViewer(person, { ip, token, expiresAtMs: expiresAt?.getTime() ?? null })
  if (!mayActOn(viewer, owner, 'exec') || (userId !== null && userId !== viewer.userId)) return null
  const taken = await db.sql.query(openedSql, [session.id])
  if (taken.length === 0) return null
  wakeups.poke('event')
  return { ...session, viewer }
}

/** SQL that describes a session in an event of the job: its command or port. */
const describeSql = `CASE WHEN opened.port IS NOT NULL THEN 'port ' || opened.port WHEN opened.command = '{}' THEN 'login shell'
  ELSE left(array_to_string(opened.command, ' '), ${commandShownMax}) END`

const openedSql = `
WITH opened AS (
  UPDATE job_session SET opened_at = berth_now(), seen_at = berth_now()
  WHERE id = $1 AND opened_at IS NULL AND ended_at IS NULL AND end_requested_at IS NULL
    AND created_at > berth_now() - ${ticketSeconds} * interval '1 second'
  RETURNING job_id, run, user_id, command, port
),
${jobChangeSql({
  jobs: 'FROM opened WHERE job.id = opened.job_id',
  type: 'SESSION_OPENED',
  event: { run: 'opened.run', actor_id: 'opened.user_id', message: describeSql },
})}
SELECT 1 FROM told`

const endedSql = `
WITH opened AS (
  UPDATE job_session SET ended_at = berth_now(), end_reason = $2, exit_code = $3, bytes_in = $4, bytes_out = $5
  WHERE id = $1 AND ended_at IS NULL
  RETURNING job_id, run, user_id, command, port, extract(epoch FROM berth_now() - opened_at)::float8 AS seconds
),
${jobChangeSql({
  jobs: 'FROM opened WHERE job.id = opened.job_id',
  type: 'SESSION_ENDED',
  event: {
    run: 'opened.run',
    actor_id: 'opened.user_id',
    message: `${describeSql} || ', ' || round(opened.seconds::numeric, 1) || ' s, ' || $4::bigint || ' bytes in, ' || $5::bigint || ' bytes out'`,
  },
})}
SELECT seconds FROM opened`

const ticketSql = `
SELECT s.id, s.job_id AS "jobId", s.run_id AS "runId", s.run, s.command, s.port, s.columns, s.rows, s.ticket_hash AS hash,
  s.token, s.expires_at AS "expiresAt", j.pool, j.executor, r.handle, o.unix_user AS "unixUser",
  jsonb_build_object('id', u.id, 'name', u.name, 'level', u.level, 'allow', u.allow, 'deny', u.deny) AS person,
  jsonb_build_object('userId', j.user_id, 'sharesTeam', EXISTS (
    SELECT FROM team_member m WHERE m.team_id = j.team_id AND m.user_id = u.id)) AS owner
FROM job_session s JOIN job j ON j.id = s.job_id JOIN run r ON r.id = s.run_id AND r.state = 'RUNNING' AND r.handle IS NOT NULL
JOIN "user" o ON o.id = j.user_id JOIN "user" u ON u.id = s.user_id
WHERE s.id = $1 AND NOT u.disabled AND (s.expires_at IS NULL OR s.expires_at > berth_now())
  AND (s.token IS NULL OR EXISTS (SELECT FROM api_token t WHERE t.prefix = s.token AND t.user_id = u.id AND t.revoked_at IS NULL))`

export interface SessionUse {
  id: string
  bytesIn: number
  bytesOut: number
}

/** Stores the end of a session. The job may have been deleted meanwhile. */
export async function closeSession(
  { db, time, wakeups }: Domain,
  { viewer, jobId, run }: Pick<TakenSession, 'viewer' | 'jobId' | 'run'>,
  { reason, exitCode, ...use }: SessionUse & { reason: string; exitCode: number | null },
): Promise<void> {
  await db.transaction(async (sql) => {
    const values = [use.id, reason, exitCode, use.bytesIn, use.bytesOut]
    const [row] = await sql.query<{ seconds: number }>(endedSql, values)
    const detail = {
      jobId,
      run,
      seconds: row?.seconds ?? null,
      bytesIn: use.bytesIn,
      bytesOut: use.bytesOut,
      exitCode,
      reason,
    }
    await audit(sql, viewer, [{ action: 'session.close', objectId: use.id, detail }], time.nowMs())
  })
  wakeups.poke('event')
}

/** Asks the server that holds the session to end it. Has no effect on a session that is already over. */
export async function endSession(domain: Domain, viewer: Viewer, id: string): Promise<{ id: string }> {
  demandAnyExec(viewer)
  await domain.db.serializable(async (tx) => {
    const session = await tx.prisma.jobSession.findUnique({ where: { id }, include: { job: true } })
    const isOwn = session?.userId === viewer.userId
    if (!session || !(isOwn || mayActOn(viewer, await withTeam(tx, viewer, session.job), 'exec')))
      throw new NotFound(`Session ${id.slice(0, 64)} not found`)
    if (session.endedAt ?? session.endRequestedAt) return
    const now = await readNow(tx)
    const ended = session.openedAt ? {} : { endedAt: now, endReason: 'Ended before it began' }
    await tx.prisma.jobSession.update({ where: { id }, data: { endRequestedAt: now, ...ended } })
    await audit(tx, viewer, [{ action: 'session.end', objectId: id }], domain.time.nowMs())
  })
  domain.wakeups.poke('access')
  return { id }
}

/** A viewer without any permission to open sessions gets Forbidden, even for an unknown id. */
function demandAnyExec(viewer: Viewer): void {
  const { permissions } = viewer
  if (!permissions.has('job.exec.all') && !permissions.has('job.exec.team')) demand(viewer, 'job.exec.own')
}

async function withTeam(tx: Tx, { userId }: Viewer, job: { userId: string; teamId: string | null }) {
  const { teamId } = job
  const sharesTeam = teamId !== null && (await tx.prisma.teamMember.count({ where: { teamId, userId } })) > 0
  return { ...job, sharesTeam }
}

export interface JobSession {
  id: string
  jobId: string
  runId: string
  userId: string
  command: string[]
  port: number | null
  tty: boolean
  ip: string | null
  isOpen: boolean
  createdAt: Date
  openedAt: Date | null
  endedAt: Date | null
  endReason: string | null
  exitCode: number | null
  bytesIn: number
  bytesOut: number
}

const columns = `id, job_id AS "jobId", run_id AS "runId", user_id AS "userId", command, port, columns IS NOT NULL AS tty, ip,
  (${isOpenSql}) AS "isOpen", created_at AS "createdAt", opened_at AS "openedAt", ended_at AS "endedAt",
  end_reason AS "endReason", exit_code AS "exitCode", bytes_in AS "bytesIn", bytes_out AS "bytesOut"`

export const readSessions = (sql: Sql, ids: readonly string[]): Promise<JobSession[]> =>
  sql.query<JobSession>(`SELECT ${columns} FROM job_session WHERE id = ANY($1::text[])`, [ids])

/** The newest sessions of jobs, at most 100 per job. */
export const readSessionsOfJobs = (sql: Sql, jobIds: readonly string[]): Promise<JobSession[]> =>
  sql.query<JobSession>(
    `SELECT s.* FROM unnest($1::text[]) AS j(id) CROSS JOIN LATERAL (
       SELECT ${columns} FROM job_session WHERE job_id = j.id ORDER BY created_at DESC, id DESC LIMIT ${sessionsListedMax}) s`,
    [jobIds],
  )
