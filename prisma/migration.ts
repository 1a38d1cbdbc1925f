import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { SqlDriverAdapter, SqlMigrationAwareDriverAdapterFactory } from '@prisma/driver-adapter-utils'
import type { DiffTarget } from '@prisma/schema-engine-wasm/schema_engine_bg'
import { createLog } from '../src/platform/log.ts'
import { openSchemaEngine } from './schema-engine.ts'

/**
 * Writes migrations from schema.prisma, without a database.
 *
 *   npm run migration              makes the newest migration fit schema.prisma again
 *   npm run migration -- <name>    begins a new one
 *
 * The generated part stands between two marker lines; the lines above and below are written by hand and stay. It leads
 * from the schema.prisma that was committed with the previous migration to the present one, so commit both together.
 * Never write a released migration again: databases keep its checksum.
 */
export const generatedBegin = '-- Generated from schema.prisma by `npm run migration`; edit above and below, not here.'
export const generatedEnd = '-- End of the generated part.'

const root = import.meta.dirname
const migrations = join(root, 'migrations')

export async function listMigrations(): Promise<string[]> {
  const entries = await readdir(migrations, { withFileTypes: true })
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort()
}

/** schema.prisma as it was committed with a migration. */
function readCommittedSchema(migration: string): string {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' })
  const commit = git('log', '-1', '--format=%H', '--', `migrations/${migration}`).trim()
  if (commit === '') throw new Error(`Commit the migration ${migration} with its schema.prisma first`)
  return git('show', `${commit}:./schema.prisma`)
}

/** The SQL that leads from one datamodel (null: nothing) to another. */
export async function difference(from: string | null, to: string): Promise<string> {
  const datamodel = (content: string): DiffTarget => ({
    tag: 'schemaDatamodel',
    files: [{ path: 'schema.prisma', content }],
  })
  const engine = await openSchemaEngine(noDatabase, createLog('silent'))
  try {
    const { stdout } = await engine.diff({
      from: from === null ? { tag: 'empty' } : datamodel(from),
      to: datamodel(to),
      script: true,
      exitCode: null,
      filters: { externalTables: [], externalEnums: [] },
    })
    return (stdout ?? '').trim()
  } finally {
    engine.free()
  }
}

/** The engine insists on a connection even to compare two texts: this one leads nowhere. */
const nowhere: SqlDriverAdapter = {
  provider: 'postgres',
  adapterName: 'nowhere',
  queryRaw: async () => ({ columnTypes: [], columnNames: [], rows: [] }),
  executeRaw: async () => 0,
  executeScript: async () => undefined,
  startTransaction: async () => {
    throw new Error('A comparison of datamodels needs no transaction')
  },
  dispose: async () => undefined,
}
const noDatabase: SqlMigrationAwareDriverAdapterFactory = {
  provider: 'postgres',
  adapterName: 'nowhere',
  connect: async () => nowhere,
  connectToShadowDb: async () => nowhere,
}

/** Puts `sql` between the marker lines of `script`. */
export function replaceGenerated(script: string, sql: string): string {
  const begin = script.indexOf(generatedBegin)
  const end = script.indexOf(generatedEnd)
  if (begin < 0 || end < begin) throw new Error('The marker lines of the generated part are missing or out of order')
  return `${script.slice(0, begin)}${generatedBegin}\n\n${sql}\n\n${script.slice(end)}`
}

async function write(name: string | undefined) {
  const known = await listMigrations()
  const target = name === undefined ? known.at(-1) : `${timestamp()}_${name}`
  if (target === undefined) throw new Error('prisma/migrations is empty: name the first migration')
  const before = known.filter((migration) => migration < target).at(-1)
  const schema = await readFile(join(root, 'schema.prisma'), 'utf8')
  const sql = await difference(before === undefined ? null : readCommittedSchema(before), schema)
  const folder = join(migrations, target)
  const path = join(folder, 'migration.sql')
  await mkdir(folder, { recursive: true })
  const script = existsSync(path) ? await readFile(path, 'utf8') : `${generatedBegin}\n${generatedEnd}\n`
  await writeFile(path, replaceGenerated(script, sql))
  process.stdout.write(`${path}\n`)
}

const timestamp = () => new Date().toISOString().replace(/\D/g, '').slice(0, 14)

if (import.meta.main) {
  const name = process.argv[2]
  if (name !== undefined && !/^[a-z0-9_]+$/.test(name)) throw new Error('The name of a migration is a_few_words')
  await write(name)
}
