import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeDataDirectory } from '../../src/config/data-directory.ts'

test('a data directory that cannot be written is refused in one line', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'berth-config-'))
  const file = join(folder, 'file')
  await writeFile(file, '')
  const refused = /^dataDir: ".*" cannot be used \(E.*\); set a directory .* \(BERTH_DATA_DIR\)$/
  const link = join(folder, 'link')
  await symlink('/nowhere/at/all', link)
  const unwritable = [file, join(file, 'in'), link, join(link, 'in')]
  for (const path of unwritable) expect(() => makeDataDirectory(path, 0o700)).toThrow(refused)
  for (const times of ['made', 'there']) {
    makeDataDirectory(join(folder, 'new', 'data'), 0o700)
    for (const path of ['new', 'new/data'])
      expect((await stat(join(folder, path))).mode & 0o777, `${path} ${times}`).toBe(0o700)
  }
  await rm(folder, { recursive: true })
})

test.runIf(process.platform === 'linux')('a data directory in a file system that takes no folders is refused', () => {
  const script = `
    import { makeDataDirectory } from '${new URL('../../src/config/data-directory.ts', import.meta.url)}'
    try { makeDataDirectory('/proc/berth/data', 0o700) } catch (error) { console.log(error.message) }`
  // In a process of its own: a call that never returns would hold the test as well.
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
    timeout: 20_000,
  })
  expect(stdout).toMatch(/^dataDir: "\/proc\/berth\/data" cannot be used \(ENOENT: .*\); set a directory /)
})
