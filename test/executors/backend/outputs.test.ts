import { linkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { beforeEach, expect, test } from 'vitest'
import type { FoundOutput } from '../../../src/domain/outputs/found.ts'
import { readOutputs } from '../../../src/executors/backend/outputs.ts'
import { makeDirectory } from '../../support/directory.ts'

let cwd: string

beforeEach(async () => {
  cwd = makeDirectory()
  for (const name of ['a', 'b', 'c', 'd']) writeFileSync(join(cwd, name), name)
})

async function collect(pick: (found: FoundOutput) => boolean = () => true) {
  const read: Record<string, string> = {}
  const unread: string[] = []
  for await (const one of readOutputs({ cwd, account: null }, pick, new AbortController().signal))
    if ('unread' in one) unread.push(one.unread)
    else read[one.path] = (await buffer(one.content)).toString()
  return { read, unread }
}

test('a hard link of an output file has the content of the file', async () => {
  linkSync(join(cwd, 'a'), join(cwd, 'e'))
  expect(await collect()).toEqual({ read: { a: 'a', b: 'b', c: 'c', d: 'd', e: 'a' }, unread: [] })
})

test('files that grow to terabytes after the search are reported as unread, and the others are read', async () => {
  const found: string[] = []
  const pick = ({ path }: FoundOutput) => {
    if (found.push(path) === 4) for (const name of [found[1], found[3]]) truncateSync(join(cwd, name ?? ''), 2 ** 42)
    return true
  }
  const { read, unread } = await collect(pick)
  const [first = '', second = '', third = '', fourth = ''] = found
  expect(read).toEqual({ [first]: first, [third]: third })
  expect(unread).toEqual([second, fourth].map((name) => `"${name}" changed while it was read`))
})
