import { readdir, rename, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { hashFiles } from '../../../src/client/files/contents.ts'
import { type FolderFile, isLink, listFolder } from '../../../src/client/files/folder.ts'
import { HashCache } from '../../../src/client/files/hash-cache.ts'
import { makeDirectory } from '../../support/directory.ts'
import { sha256 } from '../../support/snapshots.ts'

let folder: string
let caches: string

beforeEach(async () => {
  folder = makeDirectory()
  caches = join(folder, '.git', 'caches')
})

const settled = (file: FolderFile): FolderFile => ({ ...file, changedMs: file.changedMs - 120_000 })
const list = async () => (await listFolder(folder)).filter((each): each is FolderFile => !isLink(each)).map(settled)

/** The hashes of one pass. */
async function hash(files: readonly FolderFile[]): Promise<{ hashes: unknown[]; cache: HashCache }> {
  const cache = await HashCache.open(caches, folder)
  const hashed = await hashFiles(folder, files, { cache, onRead: () => undefined })
  await cache.save()
  return { hashes: hashed.map((each) => 'sha256' in each && each.sha256), cache }
}

const known = async (files: readonly FolderFile[]) => {
  const cache = await HashCache.open(caches, folder)
  return files.map((file) => cache.find(file))
}

describe('the cache of hashes', () => {
  it('has the hashes of files that were read, until one changes', async () => {
    await writeFile(join(folder, 'a'), 'a')
    await writeFile(join(folder, 'b'), 'b')
    const files = await list()
    expect((await hash(files)).hashes).toEqual([sha256('a'), sha256('b')])
    await writeFile(join(folder, 'b'), 'c')
    const later = await list()
    expect(await known(later)).toEqual([sha256('a'), undefined])
    expect((await hash(later)).hashes).toEqual([sha256('a'), sha256('c')])
    expect(await known(later)).toEqual([sha256('a'), sha256('c')])
  })

  it('notices if a file is replaced by one of the same size and time', async () => {
    await writeFile(join(folder, 'a'), 'a')
    await writeFile(join(folder, 'other'), 'b')
    const moment = new Date(Date.now() - 60_000)
    for (const name of ['a', 'other']) await utimes(join(folder, name), moment, moment)
    await hash(await list())
    await rename(join(folder, 'other'), join(folder, 'a'))
    expect(await known(await list())).toEqual([undefined])
  })

  it('does not keep the hash of a file that changed within the last minute', async () => {
    await writeFile(join(folder, 'a'), 'a')
    const files = (await listFolder(folder))
      .filter((each): each is FolderFile => !isLink(each))
      .map((file) => ({ ...file, changedMs: file.changedMs - 45_000 }))
    await hash(files)
    expect(await known(files)).toEqual([undefined])
  })

  it('is empty if its own file is broken, and is removed a month after its last use', async () => {
    await writeFile(join(folder, 'a'), 'a')
    const files = await list()
    await hash(files)
    const [name = ''] = await readdir(caches)
    await writeFile(join(caches, name), 'x'.repeat(200))
    expect(await known(files)).toEqual([undefined])
    await writeFile(join(caches, 'of-another-folder.hashes'), '')
    const longAgo = new Date(Date.now() - 40 * 86_400_000)
    await utimes(join(caches, 'of-another-folder.hashes'), longAgo, longAgo)
    await hash(files)
    expect(await readdir(caches)).toEqual([name])
    expect(await known(files)).toEqual([sha256('a')])
  })
})
