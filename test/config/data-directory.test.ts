import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeDataDirectory } from '../../src/config/data-directory.ts'

test('a data directory that cannot be written is refused in one line', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'berth-config-'))
  const file = join(folder, 'file')
  await writeFile(file, '')
  const refused = /^dataDir: ".*" cannot be used \(E.*\); set a directory .* \(BERTH_DATA_DIR\)$/
  for (const path of [file, join(file, 'in')]) expect(() => makeDataDirectory(path, 0o700)).toThrow(refused)
  makeDataDirectory(join(folder, 'new'), 0o700)
  await rm(folder, { recursive: true })
})
