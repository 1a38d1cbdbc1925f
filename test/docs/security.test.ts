import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../support/sources.ts'

test('every promise in docs/security.md names test files that exist', async () => {
  const page = await readFile(join(root, 'docs/security.md'), 'utf8')
  const tables = page.split('\n\n').filter((block) => block.startsWith('| promise'))
  const rows = tables.flatMap((table) => table.trim().split('\n').slice(2))
  expect(rows.length).toBeGreaterThan(50)
  const proofs = rows.map((row) => [...(row.split(' | ').at(-1) ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => name))
  expect(rows.filter((_, index) => proofs[index]?.length === 0)).toEqual([])
  const tests = proofs.flat().filter((name) => !name?.startsWith('npm run '))
  expect(tests.filter((name) => !existsSync(join(root, 'test', `${name}.test.ts`)))).toEqual([])
})
