import { randomBytes } from 'node:crypto'
import type { Sql } from '../../platform/tx.ts'
import type { Domain } from '../domain.ts'
import { getSecretKeys, type Sealed, seal, unseal } from '../secret-keys.ts'
import { makeSecretContext } from './secrets.ts'

/**
 * The secrets of a run. A name means the secret of the job's user, else that of the job's team. The first start of a run
 * stores the values for it, encrypted: a repeated start gets the same ones, and the log can be redacted after the secret
 * was changed or deleted. The next run of a retry reads the newest values.
 */

export type RunSecrets = Readonly<Record<string, string>>

export interface KeptSecrets {
  values: RunSecrets
  /** A key that encrypts output of the run before the output is redacted. */
  key: string
}

interface Use {
  runId: string
  jobId: string
  names: readonly string[]
}

/** Output is searched for each line of the values, so their number and length decide what a chunk of output costs. */
const linesMax = 256
const bytesMax = 131_072

/** Returns the values for a run that starts, or why the run cannot get them. Throws Unreadable. */
export async function takeRunSecrets(
  domain: Domain,
  use: Use,
): Promise<{ values: RunSecrets; refusal?: undefined } | { refusal: string }> {
  const stored = await readRunSecrets(domain, use.runId)
  if (stored) return stored
  const keys = getSecretKeys(domain)
  const rows = await domain.db.sql.query<StoredSecret>(readSql, [use.jobId, use.names], 'secrets_of_job')
  const byName = new Map(rows.map((row) => [row.name, row]))
  const missing = use.names.filter((name) => !byName.has(name))
  const whose = 'was deleted, or the user of the job may not use it any more'
  if (missing.length > 0) return { refusal: `The secret ${missing.join(', ')} ${whose}; set it and retry the job` }
  const values = Object.fromEntries(rows.map((row) => [row.name, unseal(keys, makeSecretContext(row), row)]))
  const texts = Object.values(values)
  const lines = texts.reduce((sum, text) => sum + text.split('\n').length, 0)
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  if (lines > linesMax || bytes > bytesMax)
    return {
      refusal: `The secrets of the job have ${lines} lines and ${bytes} bytes together, the maximum is ${linesMax} and ${bytesMax}`,
    }
  const kept: KeptSecrets = { values, key: randomBytes(32).toString('base64') }
  const { keyId, data } = seal(keys, makeRunContext(use.runId), JSON.stringify(kept))
  const ids = rows.map(({ id }) => id)
  await domain.db.sql.query(storeSql, [use.runId, keyId, Buffer.from(data), ids], 'store_run_secrets')
  // Another leader may have stored other values first.
  return (await readRunSecrets(domain, use.runId)) ?? kept
}

/** Reads the values that the run got; null: the run has no secrets or is over. Throws Unreadable. */
export async function readRunSecrets(domain: Domain, runId: string): Promise<KeptSecrets | null> {
  const [row] = await domain.db.sql.query<StoredValue>(
    'SELECT key_id AS "keyId", data FROM run_secret WHERE run_id = $1',
    [runId],
    'run_secrets',
  )
  return row ? (JSON.parse(unseal(getSecretKeys(domain), makeRunContext(runId), row)) as KeptSecrets) : null
}

/** Names of secrets that these users may use, as `<user>/<team or nothing>/<name>`. */
export async function readUsableSecrets(
  sql: Sql,
  userIds: readonly string[],
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  if (names.length === 0) return new Set()
  const rows = await sql.query<{ userId: string; teamId: string | null; name: string }>(
    usableByUsersSql,
    [JSON.stringify([...new Set(userIds)]), JSON.stringify([...new Set(names)])],
    'usable_secrets',
  )
  return new Set(rows.map(({ userId, teamId, name }) => makeUsableKey(userId, teamId, name)))
}

export const makeUsableKey = (userId: string, teamId: string | null, name: string) =>
  `${userId}/${teamId ?? ''}/${name}`

const usableByUsersSql = `
SELECT wanted.id AS "userId", s.team_id AS "teamId", s.name
FROM jsonb_array_elements_text($1::text::jsonb) AS wanted(id)
JOIN secret s ON s.user_id = wanted.id OR s.team_id IN (SELECT m.team_id FROM team_member m WHERE m.user_id = wanted.id)
WHERE s.name IN (SELECT jsonb_array_elements_text($2::text::jsonb))`

export const forgetRunSecrets = (sql: Sql): Promise<unknown> =>
  sql.query('DELETE FROM run_secret s USING run r WHERE r.id = s.run_id AND r.finished_at IS NOT NULL')

export const makeRunContext = (runId: string) => `run ${runId}`

interface StoredValue extends Sealed {
  data: Buffer
}

interface StoredSecret extends StoredValue {
  id: string
  name: string
  userId: string | null
  teamId: string | null
}

const readSql = `
SELECT DISTINCT ON (s.name) s.id, s.name, s.user_id AS "userId", s.team_id AS "teamId", s.key_id AS "keyId", s.data
FROM job j JOIN secret s ON s.user_id = j.user_id OR s.team_id = j.team_id AND EXISTS
  (SELECT FROM team_member m WHERE m.team_id = s.team_id AND m.user_id = j.user_id)
WHERE j.id = $1 AND s.name = ANY($2::text[]) ORDER BY s.name, s.team_id NULLS FIRST`

const storeSql = `
WITH used AS (UPDATE secret SET last_used_at = berth_now() WHERE id = ANY($4::text[]))
INSERT INTO run_secret (run_id, key_id, data) SELECT id, $2, $3 FROM run WHERE id = $1 AND finished_at IS NULL
ON CONFLICT (run_id) DO NOTHING`
