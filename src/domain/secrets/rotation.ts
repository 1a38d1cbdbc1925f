import type { Domain } from '../domain.ts'
import { getSecretKeys, type Sealed, type SecretKeys, seal, Unreadable, unseal } from '../secret-keys.ts'
import { makeRunContext } from './run-secrets.ts'
import { makeSecretContext } from './secrets.ts'

/** Encrypts values again that an older key encrypted, with the current key. */
export async function reencryptSecrets(domain: Domain): Promise<number> {
  const [current, ...old] = getSecretKeys(domain)
  const oldIds = old.map(({ id }) => id).filter((id) => id !== current.id)
  const secrets = await reencrypt(domain, oldIds, 'secret', 'id', (row) => makeSecretContext(row))
  const runs = await reencrypt(domain, oldIds, 'run_secret', 'run_id', ({ id }) => makeRunContext(id))
  return secrets + runs
}

interface Row extends Sealed {
  data: Buffer
  id: string
  userId: string | null
  teamId: string | null
  name: string
}

const batchMax = 100

const columnsOf = {
  secret: 'id, user_id AS "userId", team_id AS "teamId", name',
  run_secret: `run_id AS id, NULL AS "userId", NULL AS "teamId", '' AS name`,
}

async function reencrypt(
  domain: Domain,
  oldIds: readonly string[],
  table: keyof typeof columnsOf,
  key: 'id' | 'run_id',
  contextOf: (row: Row) => string,
): Promise<number> {
  const { sql } = domain.db
  const keys = getSecretKeys(domain)
  let after = ''
  for (let changed = 0; ; ) {
    const rows = await sql.query<Row>(
      `SELECT ${columnsOf[table]}, key_id AS "keyId", data FROM ${table}
       WHERE key_id = ANY($1::text[]) AND ${key} > $2 ORDER BY ${key} LIMIT ${batchMax}`,
      [oldIds, after],
    )
    for (const row of rows) {
      const value = tryUnseal(keys, contextOf(row), row)
      if (value === null) {
        domain.log.error({ table, id: row.id }, 'a secret does not decrypt; set it again')
        continue
      }
      changed += 1
      const { keyId, data } = seal(keys, contextOf(row), value)
      // The condition on `data` keeps a value that was set meanwhile.
      await sql.query(`UPDATE ${table} SET key_id = $2, data = $3 WHERE ${key} = $1 AND data = $4`, [
        row.id,
        keyId,
        Buffer.from(data),
        row.data,
      ])
    }
    after = rows.at(-1)?.id ?? ''
    if (rows.length < batchMax) return changed
  }
}

function tryUnseal(keys: SecretKeys, context: string, sealed: Sealed): string | null {
  try {
    return unseal(keys, context, sealed)
  } catch (error) {
    if (error instanceof Unreadable) return null
    throw error
  }
}
