import { execFile } from 'node:child_process'
import { chmod, chown, mkdir, readdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeEach, describe, expect, it } from 'vitest'
import { isWholeMount, Layout } from '../../../src/executors/slurm/layout.ts'
import { makeDirectory } from '../../support/directory.ts'
import { mountSmallDisk } from '../../support/small-disk.ts'

/** The folders of a pool, and a `sharedDir` whose file system is not mounted. */

const layoutOf = (sharedDir: string, hasRuns = false) => new Layout(sharedDir, 'cluster', async () => hasRuns)
const told = (words: string) => ({ message: expect.stringContaining(words) })

it('a new pool rejects a mount point as sharedDir', async (test) => {
  await using disk = (await mountSmallDisk(1)) ?? test.skip()
  await expect(layoutOf(disk.path).checkReadable()).rejects.toMatchObject(told(`${disk.path} is a mount point`))
  expect(await readdir(disk.path)).toEqual([])
  const inside = join(disk.path, 'shared')
  await mkdir(inside)
  await layoutOf(inside).checkReadable()
  expect(await readdir(inside)).toEqual(['cluster'])
})

it('a pool whose folders are already in a mount point keeps using them', async (test) => {
  await using disk = (await mountSmallDisk(1)) ?? test.skip()
  await mkdir(join(disk.path, 'cluster', 'server'), { recursive: true })
  const layout = layoutOf(disk.path, true)
  await layout.checkWritable()
  expect(await readdir(layout.runs)).toEqual([])
})

it('a new pool accepts a bind-mounted folder as sharedDir', async (test) => {
  await using disk = (await mountSmallDisk(1)) ?? test.skip()
  const [folder, bound] = [join(disk.path, 'folder'), join(disk.path, 'a bound folder')]
  for (const path of [folder, bound]) await mkdir(path)
  await promisify(execFile)('mount', ['--bind', folder, bound])
  try {
    await layoutOf(bound).checkReadable()
    expect(await readdir(folder)).toEqual(['cluster'])
  } finally {
    await promisify(execFile)('umount', ['--lazy', bound])
  }
})

it('no folder is created for a pool that already has runs', async () => {
  const sharedDir = makeDirectory()
  const layout = layoutOf(sharedDir, true)
  await expect(layout.checkReadable()).rejects.toMatchObject(
    told('has no folder cluster/server, but the pool has runs: mount'),
  )
  expect(await readdir(sharedDir)).toEqual([])
  await mkdir(join(sharedDir, 'cluster', 'server'), { recursive: true })
  await layout.checkReadable()
})

describe('folders that another account controls', () => {
  const isRoot = process.getuid?.() === 0
  const other = 4_242
  let sharedDir: string
  const path = (...names: string[]) => join(sharedDir, ...names)
  const foreign = async (...names: string[]) => {
    await mkdir(path(...names), { mode: 0o777 })
    await chown(path(...names), other, other)
  }
  beforeEach(async () => {
    sharedDir = makeDirectory()
  })
  const demand = () => layoutOf(sharedDir).checkWritable()

  it.runIf(isRoot).each<[string, () => Promise<unknown>, string]>([
    ['its folder', () => foreign('cluster'), `cluster belongs to uid ${other}, not to uid 0`],
    [
      'its folder "runs"',
      () => mkdir(path('cluster')).then(() => foreign('cluster', 'runs')),
      `cluster/runs belongs to uid ${other}`,
    ],
    [
      'its folder "server"',
      () => mkdir(path('cluster')).then(() => foreign('cluster', 'server')),
      `cluster/server belongs to uid ${other}`,
    ],
  ])('a pool in a world-writable folder refuses %s if it belongs to another account', async (_, make, words) => {
    await chmod(sharedDir, 0o1777)
    await make()
    await expect(demand()).rejects.toMatchObject(told(words))
  })

  it('a pool does not follow a link that replaces its folder', async () => {
    await mkdir(path('elsewhere'))
    await symlink(path('elsewhere'), path('cluster'))
    await expect(demand()).rejects.toMatchObject(told('cluster is a link or a file, not a folder of the server'))
    expect(await readdir(path('elsewhere'))).toEqual([])
  })

  it.each([0o775, 0o757])('a pool refuses a folder of mode %o', async (mode) => {
    await demand()
    await chmod(path('cluster', 'runs'), mode)
    await expect(demand()).rejects.toMatchObject(told('cluster/runs can be changed by other accounts'))
  })

  it.each([0o777, 0o775])('sharedDir of mode %o is rejected, but not with the sticky bit', async (mode) => {
    await chmod(sharedDir, mode)
    await expect(demand()).rejects.toMatchObject(told(`${sharedDir} can be changed by other accounts: chmod`))
    expect(await readdir(sharedDir)).toEqual([])
    await chmod(sharedDir, 0o1000 | mode)
    await demand()
  })

  it.runIf(isRoot)('sharedDir is rejected if it belongs to another account', async () => {
    await chown(sharedDir, other, other)
    await expect(demand()).rejects.toMatchObject(told(`belongs to uid ${other}: chown it to uid 0`))
  })

  it('sharedDir is rejected if every account can replace it in its parent folder', async () => {
    await mkdir(path('in'))
    await chmod(sharedDir, 0o777)
    await expect(layoutOf(path('in')).checkReadable()).rejects.toMatchObject(
      told('in which every account can replace it'),
    )
  })
})

it.each([
  ['a file system', '/', '/srv/shared', 'nfs4 filer:/export rw,vers=4.2', true],
  ['a folder of a file system', '/berth', '/srv/shared', 'nfs4 filer:/export rw,vers=4.2', false],
  ['a subvolume of btrfs', '/@data', '/srv/shared', 'btrfs /dev/sdb rw,subvolid=256,subvol=/@data', true],
  ['a folder of a subvolume', '/@data/berth', '/srv/shared', 'btrfs /dev/sdb rw,subvolid=256,subvol=/@data', false],
  ['a file system elsewhere', '/', '/srv', 'nfs4 filer:/export rw,vers=4.2', false],
  ['a path with a space', '/', '/srv/my\\040shared', 'nfs4 filer:/export rw,vers=4.2', true],
])('a mount is recognised for %s', (_, root, place, rest, isWhole) => {
  const mounts = `22 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw\n36 22 0:41 ${root} ${place} rw shared:9 - ${rest}\n`
  expect(isWholeMount(mounts, place === '/srv' ? '/srv/shared' : place.replace('\\040', ' '))).toBe(isWhole)
})
