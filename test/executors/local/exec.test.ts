import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { type ExecOrder, SessionRefused } from '../../../src/executors/executor.ts'
import { readEnvironment } from '../../../src/executors/local/processes.ts'
import { makeRun, read, untilState } from '../runs.ts'
import { openLocalPerTest } from './runs.ts'

/** Commands in runs of another account, by a server that runs as root. */
const local = openLocalPerTest()
const isRoot = process.getuid?.() === 0

async function exec(order: Partial<ExecOrder>) {
  const unixUser = 'nobody'
  const environment = [{ name: 'LD_PRELOAD', value: '/no/such.so' }]
  const run = makeRun(
    { command: ['/bin/sh', '-c', 'echo begun; exec sleep 600'], environment, workdir: tmpdir() },
    { unixUser },
  )
  const handle = await local.executor.start(run)
  await read(local.executor, handle, { enough: ({ out }) => out === 'begun\n' })
  const process = await local.executor.exec?.(handle, { command: [], size: null, unixUser, ...order })
  process?.stdin.end()
  const out = process ? await text(process.stdout) : ''
  await local.executor.stop(handle, 0)
  return out
}

describe.skipIf(!isRoot)('a command in a run of another account', () => {
  it('runs under that account, without and with a terminal', async () => {
    const command = ['/bin/sh', '-c', 'id -un; groups; pwd; echo "$LD_PRELOAD"']
    expect(await exec({ command })).toBe(`nobody\nnogroup\n${tmpdir()}\n/no/such.so\n`)
    expect(await exec({ command: ['/usr/bin/id', '-un'], size: { columns: 80, rows: 24 } })).toMatch(/nobody\r\n/)
  })

  it('is refused if that account does not exist on the machine', async () => {
    const handle = await local.executor.start(makeRun({ command: ['/bin/sleep', '600'] }))
    await untilState(local.executor, handle, 'running')
    const order = { command: ['true'], size: null, unixUser: 'no-such-account' }
    await expect(local.executor.exec?.(handle, order)).rejects.toThrow(SessionRefused)
    await local.executor.stop(handle, 0)
  })
})

describe('a command in a run', () => {
  it('has the environment of the job even while the job replaces its program', async () => {
    const script = join(local.spoolDir, 'again.sh')
    await writeFile(script, '#!/bin/sh\nexec "$0"\n', { mode: 0o755 })
    const job = spawn(script, { env: { KEPT: 'a=b', PATH: '/usr/bin:/bin' } })
    for (let reads = 0; reads < 2000; reads++) expect(await readEnvironment(job.pid ?? 0)).toContain('KEPT=a=b\0')
    job.kill('SIGKILL')
  })

  it('has the environment of the job even while preLaunch runs', async () => {
    const script = join(local.spoolDir, 'before.sh')
    await writeFile(script, 'sleep 600\n')
    const environment = [{ name: 'KEPT', value: 'a=b' }]
    const handle = await local.executor.start(makeRun({ command: ['true'], preLaunch: script, environment }))
    await untilState(local.executor, handle, 'running')
    const order = { command: ['/bin/sh', '-c', 'echo "$KEPT $BERTH_RUN_ID"'], size: null, unixUser: null }
    const process = await local.executor.exec?.(handle, order)
    expect(process && (await text(process.stdout))).toBe(`a=b ${handle}\n`)
    await local.executor.stop(handle, 0)
  })
})
