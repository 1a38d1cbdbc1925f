import { existsSync } from 'node:fs'
import { readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeEach, expect, it } from 'vitest'
import { withLock } from '../../src/cli/login/lock.ts'
import { makeDirectory } from '../support/directory.ts'

let folder: string
let path: string
beforeEach(async () => {
  folder = makeDirectory()
  path = join(folder, 'lock')
})

it('only one caller at a time has the lock, also after the work of a caller failed', async () => {
  let holders = 0
  const most: number[] = []
  const work = async () => {
    most.push(++holders)
    await sleep(5)
    holders--
    throw new Error('no')
  }
  await Promise.allSettled(Array.from({ length: 10 }, () => withLock(path, work)))
  expect(most).toEqual(Array(10).fill(1))
  expect(existsSync(path)).toBe(false)
})

/** Above the highest process id. */
const deadPid = 2 ** 22 + 1

it.each([
  ['of a process that has ended', `${hostname()} ${deadPid} a`, 0],
  ['of another machine, after a long time', 'elsewhere 1 a', 200],
  ['that is empty, after a long time', '', 200],
])('a lock %s is removed', async (_, holder, ageSeconds) => {
  await writeFile(path, holder)
  const at = Date.now() / 1_000 - ageSeconds
  await utimes(path, at, at)
  const results = await Promise.all([1, 2, 3].map((n) => withLock(path, async () => n)))
  expect(results).toEqual([1, 2, 3])
})

it.each([
  ['of a process that lives', `${hostname()} ${process.pid} a`],
  ['of another machine, after a short time', 'elsewhere 1 a'],
])('a lock %s is not removed, and others wait', async (_, holder) => {
  await writeFile(path, holder)
  let isHeld = true
  const done = withLock(path, async () => isHeld)
  await sleep(100)
  expect(await readFile(path, 'utf8')).toBe(holder)
  isHeld = false
  await rm(path)
  expect(await done).toBe(false)
})
