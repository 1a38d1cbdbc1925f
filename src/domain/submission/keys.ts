import { hash } from 'node:crypto'
import { removeInBatches } from '../../platform/remove-in-batches.ts'
import type { Sql } from '../../platform/tx.ts'
import type { Viewer } from '../access.ts'
import type { Domain } from '../domain.ts'
import { IdempotencyConflict, type Refusal } from '../errors.ts'
import type { SubmissionInput } from '../input.ts'
import { maySeeFilesOfCaller } from './executor-violations.ts'

/**
 * Idempotency keys. A key belongs to a user and identifies one payload. Until the key expires, submitting it again
 * returns the job of the first submission, whatever its state. A refused submission does not store its key, and
 * deleting the job deletes its key.
 */

export interface SubmissionKey {
  key: string
  /** SHA-256 of the canonical payload, in hex. */
  hash: string
  ttlSeconds: number
}

export interface StoredKey {
  userId: string
  key: string
  hash: string
  hashVersion: number
  jobId: string
  /** false: the key has expired, and the next submission replaces it. */
  live: boolean
}

/** Version of the canonical form; hashes of different versions are not compared. */
export const hashVersion = 1
const keyTtlSeconds = 86_400

/** Sorts keys, drops nulls and writes dates as UTC, so equivalent payloads have equal hashes. */
export const hashPayload = (payload: unknown): string => hash('sha256', JSON.stringify(canonical(payload)))

function canonical(value: unknown): unknown {
  if (value instanceof Date || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(canonical)
  const entries = Object.entries(value)
    .filter(([, inner]) => inner !== null && inner !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  // Pairs instead of an object: objects move keys that look like numbers to the front, and swallow __proto__.
  return { object: entries.map(([name, inner]) => [name, canonical(inner)]) }
}

/**
 * The command line sends its current directory with every job. The directory is part of the payload only if the job
 * could start in it.
 */
export function makePayload({ spec, requiresApproval, defaultWorkdir }: SubmissionInput): unknown {
  const counts = spec.workdir == null && spec.snapshot == null && maySeeFilesOfCaller(spec)
  return { spec, requiresApproval, ...(counts && { defaultWorkdir }) }
}

/** `payload`: the content that the client sent; the same key with another payload is a conflict. */
export function makeKey(input: Omit<SubmissionInput, 'spec'>, payload: unknown): SubmissionKey | null {
  const { idempotencyKey: key, idempotencyTtlSeconds: ttlSeconds } = input
  return key == null ? null : { key, hash: hashPayload(payload), ttlSeconds: ttlSeconds ?? keyTtlSeconds }
}

export const makeKeyName = (userId: string, key: string) => `${userId}/${key}`

/** Reads stored keys. LIMIT makes PostgreSQL look up each key by the index. */
export async function readKeys(
  sql: Sql,
  wanted: readonly { userId: string; key: string }[],
): Promise<Map<string, StoredKey>> {
  if (wanted.length === 0) return new Map()
  const rows = await sql.query<StoredKey>(
    `SELECT k.user_id AS "userId", k.key, encode(k.payload_hash, 'hex') AS hash, k.hash_version AS "hashVersion",
       k.job_id AS "jobId", k.expires_at > berth_now() AS live
     FROM jsonb_to_recordset($1::text::jsonb) AS w("userId" text, key text),
       LATERAL (SELECT * FROM idempotency_key k WHERE k.user_id = w."userId" AND k.key = w.key LIMIT 1) k`,
    [JSON.stringify(wanted.map(({ userId, key }) => ({ userId, key })))],
    'read_keys',
  )
  return new Map(rows.map((row) => [makeKeyName(row.userId, row.key), row]))
}

/** Returns the job id of a stored key, or the conflict with its payload; undefined: the submission is new. */
export function matchKey(stored: StoredKey | undefined, asked: SubmissionKey): string | Refusal | undefined {
  if (!stored?.live) return undefined
  if (stored.hashVersion === hashVersion && stored.hash !== asked.hash) return new IdempotencyConflict(asked.key)
  return stored.jobId
}

export async function deleteExpiredKeys(sql: Sql, keys: readonly { userId: string; key: string }[]): Promise<void> {
  if (keys.length === 0) return
  await sql.query(
    `DELETE FROM idempotency_key k USING jsonb_to_recordset($1::text::jsonb) AS w("userId" text, key text)
     WHERE k.user_id = w."userId" AND k.key = w.key AND k.expires_at <= berth_now()`,
    [JSON.stringify(keys.map(({ userId, key }) => ({ userId, key })))],
  )
}

export async function findKey({ db }: Domain, viewer: Viewer, key: string) {
  const [row] = await db.sql.query<{ key: string; jobId: string; createdAt: Date; expiresAt: Date }>(
    `SELECT key, job_id AS "jobId", created_at AS "createdAt", expires_at AS "expiresAt"
     FROM idempotency_key WHERE user_id = $1 AND key = $2 AND expires_at > berth_now()`,
    [viewer.userId, key],
  )
  return row ?? null
}

export const removeExpiredKeys = ({ db }: Domain): Promise<number> => removeInBatches(db.sql, sweepSql)

const sweepSql = `
DELETE FROM idempotency_key WHERE ctid = ANY(ARRAY(
  SELECT ctid FROM idempotency_key WHERE expires_at <= (SELECT berth_now()) ORDER BY expires_at LIMIT $1))
RETURNING 1`
