import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'
import { type Db, openDb } from '../../src/platform/db.ts'
import { createLog } from '../../src/platform/log.ts'

export interface TestDatabase extends AsyncDisposable {
  readonly db: Db
  readonly url: string
  /** Moves database time (`berth_now()`) on; moves add up. */
  moveTime(ms: number): Promise<void>
  /** Ends the connections and drops the database. */
  close(): Promise<void>
}

/** Each connection fills caches of its own: with ten, tests of the schema use an eighth more processor time. */
const connectionsMax = 4

/** A migrated database for a test file or a test: a copy of the template, 30–60 ms. */
export async function createDatabase(): Promise<TestDatabase> {
  const template = new URL(inject('templateUrl'))
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await administer(template, `CREATE DATABASE ${name} TEMPLATE ${template.pathname.slice(1)}`)
  const url = Object.assign(new URL(template), { pathname: name }).href
  const db = openDb({ address: { url }, connectionsMax, log: createLog('error'), applicationName: 'berth test' })
  let movedMs = 0
  const close = async () => {
    await db.close()
    await administer(template, `DROP DATABASE ${name} WITH (FORCE)`)
  }
  return {
    db,
    url,
    async moveTime(ms) {
      movedMs += ms
      await db.sql.query(`
        CREATE OR REPLACE FUNCTION berth_now() RETURNS timestamptz LANGUAGE sql VOLATILE PARALLEL SAFE
        AS $$ SELECT date_trunc('milliseconds', clock_timestamp() + interval '${movedMs} milliseconds') $$`)
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Uses a session in the maintenance database: a template must not have sessions while it is copied. */
async function administer(template: URL, statement: string) {
  const client = new pg.Client({ connectionString: Object.assign(new URL(template), { pathname: 'postgres' }).href })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
