import type pg from 'pg'

/** Reads tables, sequences, indexes and constraints of Berth's schema from PostgreSQL's catalog. */

export const quote = (name: string) => `"${name.replaceAll('"', '""')}"`

interface TableColumns {
  name: string
  columns: string[]
}

/** Reads all tables except the record of migrations, with their stored columns in order. */
export async function readTables(client: pg.Client): Promise<TableColumns[]> {
  const { rows } = await client.query<TableColumns>(
    `SELECT c.relname AS name, array_agg(a.attname::text ORDER BY a.attnum) AS columns
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND c.relname <> '_prisma_migrations'
     GROUP BY c.relname ORDER BY c.relname`,
  )
  return rows
}

export async function readSequences(
  client: pg.Client,
): Promise<{ name: string; lastValue: string; isCalled: boolean }[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'S' ORDER BY relname`,
  )
  const read = []
  for (const { name } of rows) {
    const { rows: state } = await client.query<{ lastValue: string; isCalled: boolean }>(
      `SELECT last_value::text AS "lastValue", is_called AS "isCalled" FROM ${quote(name)}`,
    )
    read.push({ name, lastValue: state[0]?.lastValue ?? '1', isCalled: state[0]?.isCalled ?? false })
  }
  return read
}

interface Rebuild {
  drop: string
  add: string
}

/**
 * Returns statements that remove all indexes and the constraints that need one, and statements that create them again.
 * Creating an index over all rows takes a fraction of the time of adding rows one by one. Foreign keys are removed
 * first and created last.
 */
export async function readRebuilds(client: pg.Client): Promise<Rebuild[]> {
  const { rows } = await client.query<Rebuild>(
    `SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) AS drop,
       format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) AS add
     FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype IN ('f', 'p', 'u', 'x')
       AND conrelid <> '_prisma_migrations'::regclass
     ORDER BY contype <> 'f', conrelid::regclass::text, conname`,
  )
  const { rows: indexes } = await client.query<Rebuild>(
    `SELECT format('DROP INDEX %s', i.indexrelid::regclass) AS drop, pg_get_indexdef(i.indexrelid) AS add
     FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
     WHERE c.relnamespace = 'public'::regnamespace AND i.indrelid <> '_prisma_migrations'::regclass
       AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = i.indexrelid AND contype IN ('p', 'u', 'x'))
     ORDER BY c.relname`,
  )
  return [...rows, ...indexes]
}

/** Returns the first object of schema public that is not part of an extension, or null if the schema is empty. */
export async function findObject(client: pg.Client): Promise<string | null> {
  const { rows } = await client.query<{ object: string }>(
    `SELECT object FROM (
       SELECT 'the table or view ' || oid::regclass AS object, oid, 'pg_class'::regclass AS class FROM pg_class
       WHERE relnamespace = 'public'::regnamespace
       UNION ALL SELECT 'the function ' || oid::regprocedure, oid, 'pg_proc'::regclass FROM pg_proc
       WHERE pronamespace = 'public'::regnamespace
       UNION ALL SELECT 'the type ' || oid::regtype, oid, 'pg_type'::regclass FROM pg_type
       WHERE typnamespace = 'public'::regnamespace
     ) found
     WHERE NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = found.class AND d.objid = found.oid AND d.deptype = 'e')
     LIMIT 1`,
  )
  return rows[0]?.object ?? null
}
