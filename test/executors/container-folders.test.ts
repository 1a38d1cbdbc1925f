import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createFolders } from '../../src/executors/container/held-folders.ts'
import { mountsOf } from '../../src/executors/data.ts'
import { createLog } from '../../src/platform/log.ts'

/** Folders of `data` that are exchanged for a link after they were checked. Only root may mount. */

let directory: string
let root: string

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'berth-folders-'))
  root = join(directory, 'root')
  for (const folder of ['root/mine', 'foreign']) await mkdir(join(directory, folder), { recursive: true })
  await writeFile(join(root, 'mine', 'file'), 'mine')
  await writeFile(join(directory, 'foreign', 'file'), 'foreign')
})
afterEach(() => rm(directory, { recursive: true }))

const check = (data: string) => mountsOf([data], { roots: { root }, hasUsers: true })

async function exchange(): Promise<void> {
  await rename(join(root, 'mine'), join(root, 'before'))
  await symlink(join(directory, 'foreign'), join(root, 'mine'))
}

describe.skipIf(process.getuid?.() !== 0)('a folder that is exchanged for a link', () => {
  const open = () => createFolders(join(directory, 'held'), createLog('silent'))

  it('before it is held, is refused', async () => {
    const checked = await check('root/mine:/d')
    await exchange()
    await expect((await open()).hold(checked)).rejects.toMatchObject({ reason: 'BAD_SPEC' })
  })

  it('in the way to the folder, is refused as well', async () => {
    await mkdir(join(root, 'mine', 'deep'))
    await mkdir(join(directory, 'foreign', 'deep'))
    const checked = await check('root/mine/deep:/d')
    await exchange()
    await expect((await open()).hold(checked)).rejects.toMatchObject({ reason: 'BAD_SPEC' })
  })

  it('after it is held, changes nothing, and nothing stays mounted', async () => {
    const { mounts, release } = await (await open()).hold(await check('root/mine:/d'))
    await exchange()
    const [{ source } = { source: '' }] = mounts
    expect(await readFile(join(source, 'file'), 'utf8')).toBe('mine')
    await release()
    expect(await readdir(join(directory, 'held'))).toEqual([])
    expect(await readFile(join(root, 'before', 'file'), 'utf8')).toBe('mine')
  })

  it('is let go by the next server if one was killed, with all that is in it', async () => {
    const idOfNoProcess = 4_194_304
    const left = join(directory, 'held', `.folder-${idOfNoProcess}-x`)
    await mkdir(left, { recursive: true })
    execFileSync('mount', ['--bind', join(root, 'mine'), left])
    await open()
    expect(await readdir(join(directory, 'held'))).toEqual([])
    expect(await readdir(join(root, 'mine'))).toEqual(['file'])
  })
})
