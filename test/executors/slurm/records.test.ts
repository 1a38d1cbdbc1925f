import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, chown, lutimes, mkdir, readdir, symlink, truncate, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeEach, describe, expect, it } from 'vitest'
import { Layout } from '../../../src/executors/slurm/layout.ts'
import { openRunSpool, readRecords, removeDrafts, removeRun } from '../../../src/executors/slurm/run-files.ts'
import { makeDirectory } from '../../support/directory.ts'

/** Records of a run whose job writes any content into its directory, which belongs to its account. */

const isRoot = process.getuid?.() === 0
let directory: string
beforeEach(async () => {
  directory = makeDirectory()
})

const record = (name: string, text: string) => symlink(text, join(directory, name))
const read = () => readRecords({ runId: 'run_a', directory })

it.each(['zero', 'NaN - -', '-5 - - -', '1e300', '99999', '256', '999 - - -', '', ' '])(
  'an exit record with the code "%s" is ignored',
  async (text) => {
    await record('claim', 'job 7 n1')
    if (text === '') await writeFile(join(directory, 'exit'), '')
    else await record('exit', text)
    expect(await read()).toMatchObject({ claim: { by: 'job', id: '7' }, exit: null, failed: null })
  },
)

it('GPU ids that are not plausible numbers are ignored', async () => {
  await record('begun', 'n1 0,9007199254740991,99999999999,-1,1e3,,x,3 1')
  expect((await read())?.begun?.gpuIds).toEqual([0, 3])
})

it('the reason NODE_TROUBLE is ignored in a record of the job, because such starts are retried without limit', async () => {
  await record('claim', 'refused NODE_TROUBLE the first')
  await record('exit', 'failed NODE_TROUBLE the second')
  expect(await read()).toMatchObject({
    claim: { by: 'refused', reason: 'START_FAILED' },
    failed: { reason: 'START_FAILED', message: 'the second' },
  })
})

describe('the output file of a run', () => {
  const spoolOfRun = (bytesMax = 100) => openRunSpool({ runId: 'run_a', directory }, process.getuid?.() ?? 0, bytesMax)
  const path = () => join(directory, 'stdout')
  const readAt = (at: number, bytesMax?: number) => spoolOfRun(bytesMax).read('out', Buffer.alloc(64), at)

  it.each<[string, () => Promise<unknown>]>([
    ['a directory', () => mkdir(path())],
    ['a link', () => symlink('/etc/passwd', path())],
    ['a pipe', () => promisify(execFile)('mkfifo', [path()])],
    ['a file that its owner may not read', () => (isRoot ? Promise.resolve() : writeFile(path(), 'x', { mode: 0 }))],
  ])('is ignored if it was replaced by %s', async (_, make) => {
    await make()
    expect(await spoolOfRun().size('out')).toBe(0)
    expect(await readAt(0)).toBe(0)
  })

  it('is ignored if it is a socket', async () => {
    await using server = createServer().listen(path())
    await once(server, 'listening')
    expect(await readAt(0)).toBe(0)
  })

  it('is read up to the limit if it never ends', async () => {
    await writeFile(path(), '')
    await truncate(path(), 2 ** 43)
    expect([await readAt(0), await readAt(90), await readAt(100)]).toEqual([64, 10, 0])
  })
})

it('directories and files are ignored where a record should be a link', async () => {
  for (const name of ['claim', 'begun']) await mkdir(join(directory, name))
  await writeFile(join(directory, 'full.stdout.1'), 'x')
  expect(await read()).toMatchObject({ claim: null, begun: null, exit: null, losses: [] })
})

it('records of losses with invalid amounts are ignored', async () => {
  const texts = {
    'full.stdout.1': '10',
    'full.stdout.2': 'x',
    'full.stderr.3': '-1',
    'over.stdout': '5',
    'over.stderr': '1e9',
  }
  for (const [name, text] of Object.entries(texts)) await record(name, text)
  expect((await read())?.losses).toEqual([
    { stream: 'stdout', gap: 'DISK_FULL', after: 10, bytes: 0 },
    { stream: 'stdout', gap: 'OVER_LIMIT', after: null, bytes: 5 },
  ])
})

it('at most 1,000 losses are read, and all other records', async () => {
  const numbers = Array.from({ length: 6_000 }, (_, number) => number)
  await Promise.all(numbers.map((number) => record(`full.stdout.${number}`, '5')))
  await record('claim', 'job 7 n1')
  await record('begun', 'n1  1')
  await record('exit', '3 - - -')
  const records = await read()
  expect(records).toMatchObject({ claim: { by: 'job' }, begun: { nodes: ['n1'] }, exit: { code: 3 } })
  expect(records?.losses).toHaveLength(1_000)
})

it.runIf(isRoot)('a run directory is deleted although the job made its folders inaccessible', async () => {
  const closed = join(directory, 'a', 'b')
  await mkdir(closed, { recursive: true })
  await writeFile(join(closed, 'c'), '')
  const nobody = 65_534
  for (const path of [directory, join(directory, 'a'), closed]) await chown(path, nobody, nobody)
  for (const path of [closed, join(directory, 'a')]) await chmod(path, 0)
  await removeRun({ runId: 'run_a', directory })
  expect(existsSync(directory)).toBe(false)
})

it('temporary files of killed servers are deleted after an hour', async () => {
  const layout = new Layout(directory, 'pool', async () => false)
  await layout.checkReadable()
  const path = (name: string) => join(layout.own, name)
  for (const name of ['run_a.Ab12Cd', 'run_b.Ef34Gh']) {
    await mkdir(path(name))
    await writeFile(join(path(name), 'job'), 'a token')
  }
  for (const name of ['run_a.stop', 'run_a.77.1']) await writeFile(path(name), '{}')
  await symlink('one', path('cluster'))
  const earlier = Date.now() / 1000 - 7_200
  for (const name of ['run_a.Ab12Cd', 'run_a.stop', 'run_a.77.1', 'cluster'])
    await lutimes(path(name), earlier, earlier)
  await removeDrafts(layout)
  expect((await readdir(layout.own)).toSorted()).toEqual(['cluster', 'run_a.stop', 'run_b.Ef34Gh'])
})
