import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { expect, test } from 'vitest'
import { difference, generatedBegin, generatedEnd, replaceGenerated } from '../../prisma/migration.ts'
import { createDatabase } from '../support/database.ts'

test('the migrations create the schema of schema.prisma (if not: npm run migration)', async () => {
  await using database = await createDatabase()
  const schema = await readFile(join(import.meta.dirname, '../../prisma/schema.prisma'), 'utf8')
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  try {
    await client.query('CREATE SCHEMA generated; SET search_path TO generated, public')
    await client.query(await difference(null, schema))
    const migrated = new Set(await describe(client, 'public'))
    expect((await describe(client, 'generated')).filter((line) => !migrated.has(line))).toEqual([])
  } finally {
    await client.end()
  }
})

/** Columns, keys and indexes, a line each. */
async function describe(client: pg.Client, namespace: string): Promise<string[]> {
  const { rows } = await client.query<{ line: string }>(
    `SELECT concat_ws(' ', c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
                      pg_get_expr(d.adbin, d.adrelid)) AS line
     FROM pg_attribute a
     JOIN pg_class c ON c.oid = a.attrelid
     LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
     WHERE c.relnamespace = $1::text::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
     UNION ALL
     SELECT concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid)) FROM pg_constraint
     WHERE connamespace = $1::text::regnamespace AND contype <> 'n'
     UNION ALL
     SELECT indexdef FROM pg_indexes WHERE schemaname = $1::text::name`,
    [namespace],
  )
  return rows.map(({ line }) => line.replaceAll(`${namespace}.`, ''))
}

test('the generator keeps handwritten SQL around the generated part of a migration', () => {
  const script = `-- above\n${generatedBegin}\nold\n${generatedEnd}\n-- below\n`
  expect(replaceGenerated(script, 'new')).toBe(`-- above\n${generatedBegin}\n\nnew\n\n${generatedEnd}\n-- below\n`)
  expect(() => replaceGenerated('no markers', 'new')).toThrow(/marker lines/)
})

test('the difference between two Prisma schemas is converted to SQL', async () => {
  const model = (fields: string) =>
    `datasource db {\n provider = "postgresql"\n}\nmodel thing {\n id Int @id\n${fields}\n}\n`
  expect(await difference(model(''), model(' name String?'))).toContain('ADD COLUMN     "name" TEXT')
  expect(await difference(model(''), model(''))).toContain('empty migration')
})
