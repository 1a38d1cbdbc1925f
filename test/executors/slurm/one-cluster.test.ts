import { chmod, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { BackendRefused, BackendUnreachable } from '../../../src/executors/backend/unreachable.ts'
import type { Slurm, SlurmCommand } from '../../../src/executors/slurm/commands.ts'
import { Layout } from '../../../src/executors/slurm/layout.ts'
import { checkClusterName } from '../../../src/executors/slurm/one-cluster.ts'
import { createFakeClock, type FakeClock } from '../../support/clock.ts'
import { makeDirectory } from '../../support/directory.ts'

/** A server whose SLURM_CONF now leads to another cluster. */

let sharedDir: string
let clock: FakeClock
let name: string
let hasRuns: boolean
let failure: Error | null
let asked: SlurmCommand['command'][]

beforeEach(async () => {
  sharedDir = makeDirectory()
  clock = createFakeClock()
  name = 'one'
  hasRuns = true
  failure = null
  asked = []
})

async function open(): Promise<Slurm> {
  const layout = new Layout(sharedDir, 'pool', async () => false)
  await layout.checkReadable()
  const slurm: Slurm = async ({ command }) => {
    asked.push(command)
    if (command !== 'scontrol') return 'an answer'
    if (failure) throw failure
    return `Configuration data as of now\nClusterName             = ${name}\nCommunicationParameters = (null)\n`
  }
  return checkClusterName({ slurm, layout, hasRuns: async () => hasRuns, clock })
}
const queue = { command: 'squeue', args: [], timeoutMs: 1_000 } as const

it('another cluster under the same pool is reported as unreachable, also after a restart', async () => {
  const slurm = await open()
  expect(await slurm(queue)).toBe('an answer')
  name = 'two'
  await clock.advance(5_000)
  for (const each of [slurm, await open()]) {
    const refused = each(queue)
    await expect(refused).rejects.toThrow(BackendUnreachable)
    await expect(refused).rejects.toThrow('this is the cluster two, and the runs of the pool are in the cluster one')
  }
  expect(asked.filter((command) => command === 'squeue')).toHaveLength(1)
  name = 'one'
  expect(await slurm(queue)).toBe('an answer')
})

it('a pool without runs may move to another cluster', async () => {
  await (await open())(queue)
  hasRuns = false
  name = 'two'
  expect(await (await open())(queue)).toBe('an answer')
  hasRuns = true
  name = 'one'
  await expect((await open())(queue)).rejects.toThrow('in the cluster two')
})

it('the name of the cluster is queried once, for concurrent commands too, and cached', async () => {
  const slurm = await open()
  await Promise.all([slurm(queue), slurm(queue)])
  await slurm(queue)
  expect(asked.filter((command) => command === 'scontrol')).toHaveLength(1)
})

it.each([
  [
    'does not exist',
    new BackendUnreachable('scontrol is missing', { cause: Object.assign(new Error(), { code: 'ENOENT' }) }),
  ],
  ['may not be used', new BackendRefused(1, 'Access denied')],
])('commands work although scontrol %s', async (_, error) => {
  failure = error
  expect(await (await open())(queue)).toBe('an answer')
})

it('after the controller was unreachable, no further commands are sent to it', async () => {
  failure = new BackendUnreachable('Unable to contact slurm controller')
  await expect((await open())(queue)).rejects.toThrow('Unable to contact')
  expect(asked).toEqual(['scontrol'])
})

it('the name of the cluster is not written into a folder that another account can change', async () => {
  const slurm = await open()
  await chmod(join(sharedDir, 'pool', 'server'), 0o777)
  expect(await slurm(queue)).toBe('an answer')
  expect(await readdir(join(sharedDir, 'pool', 'server'))).toEqual([])
})

it('a missing shared folder does not prevent commands', async () => {
  const slurm = await open()
  await rm(sharedDir, { recursive: true })
  expect(await slurm(queue)).toBe('an answer')
})
