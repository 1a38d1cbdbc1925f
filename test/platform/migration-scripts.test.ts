import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { listMigrations } from '../../prisma/migration.ts'

/** If a migration is interrupted, the server relies on each script being one transaction (src/platform/migrate.ts). */
const name = 'migration_scripts'
const scripts = await Promise.all(
  (await listMigrations()).map(async (migration) => {
    const path = join(import.meta.dirname, '../../prisma/migrations', migration, 'migration.sql')
    return { migration, script: await readFile(path, 'utf8') }
  }),
)
let server: pg.Client
let client: pg.Client

const open = async (database: string) => {
  const connectionString = Object.assign(new URL(inject('templateUrl')), { pathname: database }).href
  const opened = new pg.Client({ connectionString })
  await opened.connect()
  return opened
}

beforeAll(async () => {
  server = await open('postgres')
  await server.query(`CREATE DATABASE ${name} TEMPLATE template0`)
  client = await open(name)
})
afterAll(async () => {
  await client.end()
  await server.query(`DROP DATABASE ${name}`)
  await server.end()
})

test.each(scripts)('the migration $migration runs as one transaction', async ({ script }) => {
  const transaction = async () => {
    const { rows } = await client.query<{ id: string }>('SELECT pg_current_xact_id()::text AS id')
    return rows[0]?.id
  }
  await client.query('BEGIN')
  const before = await transaction()
  await client.query(script)
  expect(await transaction()).toBe(before)
  await client.query('COMMIT')
})
