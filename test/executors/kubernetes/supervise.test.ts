import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { superviseScript } from '../../../src/executors/kubernetes/pod.ts'
import { makeDirectory } from '../../support/directory.ts'

/** The first process of a pod, in its own pid namespace. */

let directory: string
const path = (name: string) => join(directory, name)
const said = () => readFile(path('said'), 'utf8')

beforeEach(async () => {
  directory = makeDirectory()
  for (const name of ['orders', 'run', 'bin']) await mkdir(path(name))
  await writeFile(path('said'), '')
})

interface Arguments {
  shell?: string
  limit?: number
  grace?: number
  copies?: number
  patience?: number
}

async function supervised(command: string, given: Arguments = {}): Promise<ChildProcess> {
  const { shell = '/bin/sh', limit = 0, grace = 1, copies = 1, patience = 1 } = given
  await writeFile(path('run/command'), command)
  const script = superviseScript
    .replaceAll('/berth/orders', path('orders'))
    .replaceAll('/berth/run', path('run'))
    .replaceAll('/dev/termination-log', path('said'))
  const own = [limit * 100, grace * 100, 0, copies, patience, ''].map(String)
  return spawn('unshare', ['--pid', '--fork', ...shell.split(' '), '-c', script, 'berth', ...own], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, PATH: [path('bin'), process.env['PATH']].join(delimiter) },
  })
}

/** Returns the next word, and its time in ms since boot, because this process may read it late. */
async function heard({ stdout }: ChildProcess): Promise<[string, number]> {
  const [bytes] = stdout ? await once(stdout, 'data') : []
  const [words = '', up] = String(bytes).trim().split(' at ')
  return [words, Number(up) * 1_000]
}

const uptimeMs = async () => Number((await readFile('/proc/uptime', 'utf8')).split(' ')[0]) * 1_000

const ignores = `tell() { read -r up _ </proc/uptime; echo "$1 at $up"; }
trap 'tell term' TERM; tell begun; while :; do sleep 0.02; done`
const shells = ['/bin/dash', '/bin/bash', '/bin/busybox sh'].filter((shell) => existsSync(shell.replace(/ .*/, '')))

describe.skipIf(process.getuid?.() !== 0)('the supervisor in a pod', () => {
  it('stops waiting for the other pods even without a server', async () => {
    const child = await supervised('', { copies: 2 })
    expect(await once(child, 'exit')).toEqual([143, null])
    expect(await said()).toBe('NOT_TOGETHER\n')
  })

  it.each(shells)('sends TERM for a stop request, and KILL after the grace period: %s', async (shell) => {
    const child = await supervised(ignores, { shell })
    await heard(child)
    const [term, ended] = [heard(child), once(child, 'exit')]
    await writeFile(path('orders/stop'), '1400')
    const [word, termMs] = await term
    expect(word).toBe('term')
    expect(await ended).toEqual([137, null])
    expect((await uptimeMs()) - termMs).toBeGreaterThan(1_300)
    expect(await said()).toMatch(/^STOPPED\nRAN \d+\n$/)
  })

  it.each(shells)('counts the grace period of a stop request from its own TERM: %s', async (shell) => {
    const child = await supervised(ignores, { shell, limit: 1, grace: 1_000 })
    await heard(child)
    const ended = once(child, 'exit')
    await heard(child)
    await writeFile(path('orders/stop'), '100')
    expect(await ended).toEqual([137, null])
    expect(await said()).toMatch(/^MAX_RUN_TIME\nRAN \d+\n$/)
  })

  it.each(shells)('ends a run after its time limit and the grace period: %s', async (shell) => {
    const spawnedMs = await uptimeMs()
    const child = await supervised(ignores, { shell, limit: 1 })
    const [, begunMs] = await heard(child)
    expect(await once(child, 'exit')).toEqual([137, null])
    const endedMs = await uptimeMs()
    expect(endedMs - begunMs).toBeGreaterThan(1_900)
    const [, why, lived] = (await said()).match(/^(.*)\nRAN (\d+)\n$/) ?? []
    expect(why).toBe('MAX_RUN_TIME')
    expect(Number(lived) * 10).toBeGreaterThanOrEqual(2_000)
    expect(Number(lived) * 10).toBeLessThan(endedMs - spawnedMs + 20)
  })

  it.each(shells)('delays a late stop request until the time limit: %s', async (shell) => {
    const child = await supervised(ignores, { shell, limit: 2 })
    await heard(child)
    await writeFile(path('orders/stop'), '0')
    expect(await once(child, 'exit')).toEqual([137, null])
    const [, lived] = (await said()).match(/^STOPPED\nRAN (\d+)\n$/) ?? []
    expect(Number(lived)).toBeGreaterThanOrEqual(200)
  })

  it.each(shells)('resets ignored signals for the command: %s', async (shell) => {
    const child = await supervised('grep SigIgn /proc/self/status', { shell })
    const ended = once(child, 'exit')
    const [shown] = await heard(child)
    await ended
    expect(shown).toBe(`SigIgn:\t${'0'.repeat(16)}`)
  })

  it('obeys a stop request if sleep accepts only whole seconds', async () => {
    await writeFile(path('bin/sleep'), '#!/bin/sh\ncase $1 in *.*) exit 1 ;; esac\nexec /bin/sleep "$1"\n')
    await chmod(path('bin/sleep'), 0o755)
    const child = await supervised('echo begun; exec /bin/sleep 60', { limit: 60 })
    await heard(child)
    await writeFile(path('orders/stop'), '5000')
    expect(await once(child, 'exit')).toEqual([143, null])
    expect(await said()).toMatch(/^STOPPED\nRAN \d+\n$/)
  })
})
