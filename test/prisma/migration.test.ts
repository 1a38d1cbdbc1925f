import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  datamodelOf,
  difference,
  generatedBegin,
  generatedEnd,
  listMigrations,
  replaceGenerated,
} from '../../prisma/migration.ts'

const root = join(import.meta.dirname, '../../prisma')

test('the newest migration leads to schema.prisma (if not: npm run migration)', async () => {
  const newest = (await listMigrations()).at(-1) ?? ''
  expect(await datamodelOf(newest)).toBe(await readFile(join(root, 'schema.prisma'), 'utf8'))
})

test('the generated part of every migration is what its datamodels say', async () => {
  let before: string | null = null
  for (const migration of await listMigrations()) {
    const script = await readFile(join(root, 'migrations', migration, 'migration.sql'), 'utf8')
    const datamodel = await datamodelOf(migration)
    expect(replaceGenerated(script, await difference(before, datamodel))).toBe(script)
    before = datamodel
  }
})

test('what is written by hand around the generated part stays', () => {
  const script = `-- above\n${generatedBegin}\nold\n${generatedEnd}\n-- below\n`
  expect(replaceGenerated(script, 'new')).toBe(`-- above\n${generatedBegin}\n\nnew\n\n${generatedEnd}\n-- below\n`)
  expect(() => replaceGenerated('no markers', 'new')).toThrow(/marker lines/)
})

test('a difference of datamodels is SQL', async () => {
  const model = (fields: string) =>
    `datasource db {\n provider = "postgresql"\n}\nmodel thing {\n id Int @id\n${fields}\n}\n`
  expect(await difference(model(''), model(' name String?'))).toContain('ADD COLUMN     "name" TEXT')
  expect(await difference(model(''), model(''))).toContain('empty migration')
})
