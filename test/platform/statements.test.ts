import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '../support/database.ts'
import { openProgram } from '../support/program.ts'
import type { Reader } from '../support/readers.ts'
import { listStatements, type Statement } from '../support/statements.ts'

/**
 * Every hand-written statement is prepared against the migrated schema, in each of its forms, and its columns are
 * compared with those of its reader. So a renamed column is found without running the statement.
 */
let database: TestDatabase
let client: pg.Client
let statements: Statement[]
/** PostgreSQL's names of the types of columns, as TypeScript declares them. */
let types: ReadonlyMap<number, string>

/** 4 s on an idle machine; the compiler answers questions one at a time. */
const loadMsMax = 300_000

beforeAll(async () => {
  database = await createDatabase()
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
  types = await readTypes()
  using program = openProgram()
  statements = listStatements(program)
}, loadMsMax)
afterAll(async () => {
  await client.end()
  await database.close()
})

test('every SQL statement matches the schema, and its TypeScript type has its columns', async () => {
  expect(statements.length).toBeGreaterThan(100)
  expect(await complaints(statements)).toEqual([])
})

test('indexed columns are compared with (SELECT berth_now()), never with the volatile berth_now()', async () => {
  const indexed = await readIndexedColumns()
  await client.query('SET enable_seqscan = off')
  const found = new Set<string>()
  for (const { place, texts } of statements)
    for (const text of texts.filter((each) => each.includes('berth_now')))
      for (const { relation, filter } of scansOf(await planOf(text)))
        for (const column of indexed.get(relation) ?? [])
          if (comparesWithClock(column, filter))
            found.add(`${place}: ${relation}.${column} is compared with berth_now(), not with (SELECT berth_now())`)
  expect([...found]).toEqual([])
})

test('the check of statements finds renamed columns, and types with wrong columns', async () => {
  const lists = statements.filter(({ texts }) => texts.some((text) => /FROM capacity_reservation\b/.test(text)))
  await client.query('ALTER TABLE capacity_reservation RENAME starts_at TO begins_at')
  expect(await complaints(lists)).toContainEqual(expect.stringMatching(/starts_at"? does not exist/))

  const reader = [new Map([['nmae', { isOptional: false, types: new Set(['string']) }]])]
  const misspelt = { place: 'here', parsesInt8: true, texts: ['SELECT name FROM pool'], reader }
  expect(await complaints([misspelt])).toEqual(['here: nobody reads the column name', 'here: unknown column nmae'])
  const number = [new Map([['name', { isOptional: false, types: new Set(['number']) }]])]
  expect(await complaints([{ ...misspelt, reader: number }])).toEqual(['here: name is a string, read as number'])
})

interface Plan {
  'Relation Name'?: string
  'Index Name'?: string
  Filter?: string
  Plans?: Plan[]
}

async function planOf(text: string): Promise<Plan[]> {
  const { rows } = await client.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(`EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${text}`)
  return rows.flatMap((row) => row['QUERY PLAN'].map((each) => each.Plan))
}

/** Lists the scans of a plan, except reads by key, with the condition that each row is compared with. */
function scansOf(plans: readonly Plan[]): { relation: string; filter: string }[] {
  return plans.flatMap(({ 'Relation Name': relation, 'Index Name': index = '', Filter: filter, Plans = [] }) => {
    const scan = relation && filter && !index.endsWith('_pkey') ? [{ relation, filter }] : []
    return [...scan, ...scansOf(Plans)]
  })
}

/** The plan contains the body of berth_now(). */
const comparesWithClock = (column: string, filter: string) =>
  new RegExp(`\\b${column} [<>]=? .{0,40}clock_timestamp`).test(filter)

async function readIndexedColumns(): Promise<ReadonlyMap<string, readonly string[]>> {
  const { rows } = await client.query<{ relation: string; columns: string[] }>(
    `SELECT c.relname AS relation, array_agg(DISTINCT a.attname::text) AS columns
     FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY(i.indkey)
     WHERE c.relnamespace = 'public'::regnamespace GROUP BY 1`,
  )
  return new Map(rows.map(({ relation, columns }) => [relation, columns]))
}

async function complaints(about: readonly Statement[]): Promise<string[]> {
  const found = new Set<string>()
  for (const { place, texts, reader, parsesInt8 } of about)
    for (const text of texts) {
      const columns = await describe(text).catch((error: Error) => error)
      const wrong =
        columns instanceof Error
          ? [`${columns.message}: ${text}`]
          : compare(parsesInt8 ? columns : columns.map(asText), reader)
      for (const what of wrong) found.add(`${place}: ${what}`)
    }
  return [...found]
}

/** Without `Sql`, 64-bit counts are read as text. */
const asText = (column: pg.FieldDef): pg.FieldDef =>
  column.dataTypeID === pg.types.builtins.INT8 ? { ...column, dataTypeID: pg.types.builtins.TEXT } : column

function compare(columns: readonly pg.FieldDef[], reader: Reader): string[] {
  if (reader.length === 0) return []
  const names = new Set(columns.map(({ name }) => name))
  const missing = reader.map((form) =>
    [...form].flatMap(([name, { isOptional }]) => (isOptional || names.has(name) ? [] : [name])),
  )
  return [
    ...[...names]
      .filter((name) => !reader.some((form) => form.has(name)))
      .map((name) => `nobody reads the column ${name}`),
    ...(missing.some((form) => form.length === 0) ? [] : missing.flat().map((name) => `unknown column ${name}`)),
    ...columns.flatMap((column) => reader.flatMap((form) => misread(column, form))),
  ]
}

function misread({ name, dataTypeID }: pg.FieldDef, form: Reader[number]): string[] {
  const type = types.get(dataTypeID) ?? 'anything'
  const wrong = [...(form.get(name)?.types ?? [])].filter(
    (read) => ![read, 'anything'].includes(type) && read !== 'anything',
  )
  return wrong.map((read) => `${name} is a ${type}, read as ${read}`)
}

/** Types of a reader by their PostgreSQL names; other types are not checked. */
const readAs: Readonly<Record<string, string>> = {
  int2: 'number',
  int4: 'number',
  int8: 'number',
  float4: 'number',
  float8: 'number',
  numeric: 'string',
  bool: 'boolean',
  text: 'string',
  varchar: 'string',
  uuid: 'string',
  bytea: 'Buffer',
  timestamptz: 'Date',
}

async function readTypes(): Promise<ReadonlyMap<number, string>> {
  const { rows } = await client.query<{ oid: number; name: string; typtype: string; typcategory: string }>(
    'SELECT oid, typname AS name, typtype, typcategory FROM pg_type',
  )
  const nameOf = ({ name, typtype, typcategory }: (typeof rows)[number]) =>
    typcategory === 'A' ? 'array' : typtype === 'e' ? 'string' : readAs[name]
  return new Map(rows.map((row) => [row.oid, nameOf(row) ?? 'anything']))
}

/** Returns the columns of a statement, which is parsed and described but not executed. */
const describe = (text: string): Promise<pg.FieldDef[]> =>
  new Promise((resolve, reject) => {
    let columns: pg.FieldDef[] = []
    client.query({
      submit(connection: pg.Connection) {
        connection.parse({ text, name: '', types: [] }, true)
        connection.describe({ type: 'S', name: '' }, true)
        connection.sync()
      },
      handleRowDescription(message: { fields: pg.FieldDef[] }) {
        columns = message.fields
      },
      handleError: reject,
      handleReadyForQuery: () => resolve(columns),
    } as unknown as pg.Submittable)
  })
