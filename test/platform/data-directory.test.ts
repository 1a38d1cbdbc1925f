import { cp, mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { identify } from '../../src/platform/data-directory.ts'
import { makeDirectory } from '../support/directory.ts'

let parent: string
let path: string

beforeEach(async () => {
  parent = makeDirectory()
  path = join(parent, 'data')
  await mkdir(path)
})

test('concurrent processes read the same id of a directory; id and place stay the same when it is moved', async () => {
  const found = await Promise.all(Array.from({ length: 5 }, () => identify(path, 'boot')))
  expect(new Set(found.map(({ id }) => id)).size).toBe(1)
  await rename(path, join(parent, 'moved'))
  expect(await identify(join(parent, 'moved'), 'boot')).toEqual(found[0])
})

test('a copy of a directory has the same id and another place; after a boot of the machine the place differs too', async () => {
  const original = await identify(path, 'boot')
  await cp(path, join(parent, 'copy'), { recursive: true })
  const copy = await identify(join(parent, 'copy'), 'boot')
  expect(copy.id).toBe(original.id)
  expect(copy.place).not.toBe(original.place)
  expect((await identify(path, 'next boot')).place).not.toBe(original.place)
})

test('an empty id file is an error', async () => {
  await writeFile(join(path, 'id'), '')
  await expect(identify(path, 'boot')).rejects.toThrow('write the id of this data directory into it, or remove it')
})
