import { randomBytes } from 'node:crypto'
import { chmod, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readSecretKeyFiles } from '../../src/config/secret-keys.ts'
import { makeDirectory } from '../support/directory.ts'

const folder = makeDirectory()

async function write(name: string, text: string, mode = 0o600): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, text)
  await chmod(path, mode)
  return path
}
const newKey = () => randomBytes(32).toString('base64')

test('the first start creates a key file that only its account can read, and later starts read it', async () => {
  const first = readSecretKeyFiles({ keyFile: null, oldKeyFile: null }, folder)
  expect(first).toEqual([expect.objectContaining({ length: 32 })])
  expect((await stat(join(folder, 'secrets.key'))).mode & 0o777).toBe(0o600)
  expect(readSecretKeyFiles({ keyFile: null, oldKeyFile: null }, folder)).toEqual(first)
  expect(await readdir(folder)).toEqual(['secrets.key'])
})

test('after a rotation the new key is listed before the old one', async () => {
  const [keyFile, oldKeyFile] = [await write('new', newKey()), await write('old', newKey())]
  const [current, old] = readSecretKeyFiles({ keyFile, oldKeyFile }, folder)
  expect([current, old]).not.toContain(undefined)
  expect(readSecretKeyFiles({ keyFile: oldKeyFile, oldKeyFile: null }, folder)).toEqual([old])
})

test.each([
  ['missing', null, /^secrets.keyFile: ".*" cannot be read \(ENOENT.*\); write a new key with/],
  ['open to all', [newKey(), 0o604], /^secrets.keyFile: ".*" is open to every account; chmod o= /],
  ['too short', [randomBytes(31).toString('base64'), 0o600], /^secrets.keyFile: ".*" is not 32 bytes in base64; write/],
  ['of another form', [randomBytes(32).toString('hex'), 0o600], /^secrets.keyFile: ".*" is not 32 bytes in base64; /],
] as const)('a key file that is %s is refused', async (name, content, message) => {
  const keyFile = content === null ? join(folder, name) : await write(name, ...(content as [string, number]))
  expect(() => readSecretKeyFiles({ keyFile, oldKeyFile: null }, folder)).toThrow(message)
})
