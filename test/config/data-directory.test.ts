import { spawnSync } from 'node:child_process'
import { chmod, chown, mkdir, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { makeDataDirectory } from '../../src/config/data-directory.ts'
import { makeDirectory } from '../support/directory.ts'

test('a data directory that is not writable is rejected with a message of one line', async () => {
  const folder = makeDirectory()
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
})

test.runIf(process.platform === 'linux')(
  'a data directory in a file system that does not support folders is rejected',
  () => {
    const script = `
    import { makeDataDirectory } from '${new URL('../../src/config/data-directory.ts', import.meta.url)}'
    try { makeDataDirectory('/proc/berth/data', 0o700) } catch (error) { console.log(error.message) }`
    // Runs in its own process, because a call that never returns would block the test as well.
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
      timeout: 60_000,
    })
    expect(stdout).toMatch(/^dataDir: "\/proc\/berth\/data" cannot be used \(ENOENT: .*\); set a directory /)
  },
)

describe('a data directory that other accounts could change is rejected with the remedy', () => {
  let folder: string
  beforeEach(() => {
    folder = makeDirectory()
  })

  test.each([0o770, 0o707, 0o1777])('if its mode is %o', async (mode) => {
    const path = join(folder, 'data')
    await mkdir(path)
    await chmod(path, mode)
    const text = `dataDir: other accounts may write in "${path}" (mode ${mode.toString(8)}); chmod go-w ${path}`
    expect(() => makeDataDirectory(path, 0o700)).toThrow(text)
    await chmod(path, 0o711)
    makeDataDirectory(path, 0o700)
  })

  test.runIf(process.getuid?.() === 0)('because of another owner', async () => {
    const path = join(folder, 'data')
    await mkdir(path, { mode: 0o700 })
    await chown(path, 4321, 4321)
    const text = `dataDir: "${path}" belongs to the account 4321, and the server runs as 0: that account could change it; chown 0 ${path}`
    expect(() => makeDataDirectory(path, 0o700)).toThrow(text)
  })

  test('if a parent folder is world-writable, also if the path leads through a link', async () => {
    const open = join(folder, 'open')
    await chmod(folder, 0o711)
    await mkdir(join(open, 'in'), { recursive: true })
    await chmod(open, 0o777)
    await symlink(join(open, 'in'), join(folder, 'link'))
    for (const path of [join(open, 'in', 'data'), join(folder, 'link', 'data')])
      expect(() => makeDataDirectory(path, 0o700)).toThrow(
        `dataDir: every account may rename "${path}", because all may write in ${open} (mode 777); chmod o-w ${open}`,
      )
    await chmod(open, 0o1777)
    makeDataDirectory(join(open, 'in', 'data'), 0o700)
  })

  test('unless only this account can reach the world-writable folder, as in the volume of a pod', async () => {
    const volume = join(folder, 'volume')
    await mkdir(volume)
    await chmod(volume, 0o777)
    for (const mode of [0o710, 0o701]) {
      await chmod(folder, mode)
      expect(() => makeDataDirectory(join(volume, 'data'), 0o700)).toThrow(/every account may rename/)
    }
    await chmod(folder, 0o700)
    makeDataDirectory(join(volume, 'data'), 0o700)
  })
})
