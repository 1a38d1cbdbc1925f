import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, type FileHandle, open, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createSecretKeys } from '../../src/domain/secret-keys.ts'
import { deleteSecret, setSecret } from '../../src/domain/secrets/secrets.ts'
import { watchLateness } from '../../src/platform/lateness.ts'
import { openFilesMax } from '../../src/platform/open-files.ts'
import { createOutput } from '../../src/platform/output.ts'
import { createConditionWorld } from '../support/conditions.ts'
import { makeDirectory } from '../support/directory.ts'
import { mountSmallDisk } from '../support/small-disk.ts'

/** Each test causes a condition by its fault, and then ends the fault. */

test('DISK_FULL: begins when files fill the disk of the data directory, and ends when they are deleted', async (context) => {
  await using disk = await mountSmallDisk(64)
  if (disk === null) return context.skip('a file system cannot be mounted here')
  await using world = await createConditionWorld({}, { dataDir: disk.path })
  await world.look()
  expect(await world.find('DISK_FULL')).toBeUndefined()
  await disk.fill()
  expect(await world.begins('DISK_FULL')).toMatchObject({
    severity: 'PAGE',
    evidence: ['server host0 (pid 1): 0 MiB of 64 MiB are free'],
  })
  await disk.free()
  await world.ends('DISK_FULL')
})

test('EVENT_LOOP_LATE: begins when code has blocked the event loop several times', async () => {
  using _watch = watchLateness()
  let isBlocked = false
  const beforeLook = async () => {
    if (isBlocked) blockEventLoop(1_600)
    await setTimeout(300) // A tick of the lateness watch.
  }
  await using world = await createConditionWorld({}, { beforeLook })
  await world.look()
  await world.look()
  expect(await world.find('EVENT_LOOP_LATE')).toBeUndefined()
  isBlocked = true
  await world.look()
  expect(await world.find('EVENT_LOOP_LATE'), 'once is not enough').toBeUndefined()
  expect(await world.begins('EVENT_LOOP_LATE')).toMatchObject({
    severity: 'TICKET',
    evidence: [expect.stringMatching(/^server host0 \(pid 1\): late by up to \d{4} ms$/)],
  })
  isBlocked = false
  await world.ends('EVENT_LOOP_LATE')
})

function blockEventLoop(ms: number): void {
  const endMs = performance.now() + ms
  while (performance.now() < endMs);
}

test('OPEN_FILES_SHORT: begins when a server has almost as many open files as its limit allows', async (context) => {
  const limit = openFilesMax()
  if (!Number.isFinite(limit)) return context.skip('this system has no /proc')
  await using world = await createConditionWorld()
  await world.look()
  expect(await world.find('OPEN_FILES_SHORT')).toBeUndefined()
  const files: FileHandle[] = []
  const low = (await readdir('/proc/self/fd')).length + 80
  setLimit(low)
  try {
    for (let count = 0; count < 70; count++) files.push(await open('/dev/null'))
    expect(await world.begins('OPEN_FILES_SHORT')).toMatchObject({
      severity: 'TICKET',
      evidence: [expect.stringMatching(/^server host0 \(pid 1\): \d+ of \d+ files are open$/)],
    })
  } finally {
    for (const file of files) await file.close()
    setLimit(limit)
  }
  await world.ends('OPEN_FILES_SHORT')
})

const setLimit = (soft: number) => execFileSync('prlimit', ['--pid', String(process.pid), `--nofile=${soft}:`])

test('CLOCKS_APART: begins when the clocks of the database and of the server differ by a minute', async () => {
  await using world = await createConditionWorld()
  const { it, database } = world
  await world.look()
  expect(await world.find('CLOCKS_APART')).toBeUndefined()
  await database.moveTime(60_000)
  await it.time.look()
  expect(await world.begins('CLOCKS_APART')).toMatchObject({
    severity: 'TICKET',
    evidence: [expect.stringMatching(/^server host0 \(pid 1\): its clock is \d+ s behind the database$/)],
  })
  await database.moveTime(-80_000)
  await it.time.look()
  await world.ends('CLOCKS_APART')
})

test('VERSIONS_DIFFER: begins when one of two servers is updated, and ends when the other one is', async () => {
  await using world = await createConditionWorld({}, { servers: [{ version: '0.1.0' }, { version: '0.2.0' }] })
  const [, updated] = world.watches
  expect(await world.begins('VERSIONS_DIFFER')).toMatchObject({
    severity: 'INFO',
    evidence: ['version 0.1.0: host0 (pid 1)', 'version 0.2.0: host1 (pid 1)'],
  })
  world.watches.splice(0, world.watches.length, ...(updated ? [updated] : []))
  await world.ends('VERSIONS_DIFFER')
})

test('POOLS_DIFFER: begins when two servers have different settings for a pool', async () => {
  const servers = [{ pools: { sim: 'a', own: 'x' } }, { pools: { sim: 'b' } }]
  await using world = await createConditionWorld({}, { servers })
  const [first] = world.watches
  expect(await world.begins('POOLS_DIFFER')).toMatchObject({
    severity: 'TICKET',
    evidence: ['pool sim: host0 (pid 1) differs from host1 (pid 1)'],
  })
  world.watches.splice(0, world.watches.length, ...(first ? [first] : []))
  await world.ends('POOLS_DIFFER')
})

test('SECRETS_UNREADABLE: begins when a server does not have the key with which a secret is encrypted', async () => {
  const [mine, other] = [createSecretKeys([randomBytes(32)]), createSecretKeys([randomBytes(32)])]
  await using world = await createConditionWorld({}, { secretKeys: mine.map(({ id }) => id) })
  const { domain, admin } = world.it
  const secret = { name: 'A', value: 'first value' }
  await setSecret({ ...domain, secretKeys: mine }, admin, secret)
  await world.look()
  expect(await world.find('SECRETS_UNREADABLE')).toBeUndefined()
  await setSecret({ ...domain, secretKeys: other }, admin, secret)
  expect(await world.begins('SECRETS_UNREADABLE')).toMatchObject({
    severity: 'TICKET',
    evidence: ['1 encrypted values need a key that host0 (pid 1) does not have'],
  })
  await deleteSecret(domain, admin, { name: 'A' })
  await world.ends('SECRETS_UNREADABLE')
})

test('SECRETS_READABLE: begins when every account can read a configuration file that contains a secret', async () => {
  const folder = makeDirectory()
  const file = join(folder, 'berth.yaml')
  await writeFile(file, '', { mode: 0o600 })
  await using world = await createConditionWorld({}, { secretsFile: file })
  await world.look()
  expect(await world.find('SECRETS_READABLE')).toBeUndefined()
  await chmod(file, 0o644)
  expect(await world.begins('SECRETS_READABLE')).toMatchObject({
    severity: 'TICKET',
    evidence: [`server host0 (pid 1): ${file} is readable for every account`],
  })
  await rm(folder, { recursive: true })
  await world.ends('SECRETS_READABLE')
})

test('LOG_LINES_DROPPED: begins when log lines are dropped because the reader of the log does not read', async () => {
  await using world = await createConditionWorld()
  await world.look()
  expect(await world.find('LOG_LINES_DROPPED')).toBeUndefined()
  const frozen = new Writable({ write: () => undefined })
  const output = createOutput(frozen, { waitingCharsMax: 100 })
  for (let line = 0; line < 20; line++) output.write(`line ${line} of the log\n`)
  expect(await world.begins('LOG_LINES_DROPPED')).toMatchObject({
    severity: 'TICKET',
    evidence: [expect.stringMatching(/^server host0 \(pid 1\): 1\d lines in the last half minute$/)],
  })
  await world.ends('LOG_LINES_DROPPED')
})
