import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { JobSpec } from '../../../src/domain/spec.ts'
import { makeResources, makeRun, observe, read, untilEnded } from '../runs.ts'
import { openLocalPerTest } from './runs.ts'

/** The native id of a local run is a process id that users may signal. */
const local = openLocalPerTest()
const sh = (script: string, spec: Partial<JobSpec> = {}) =>
  makeRun({ command: ['/bin/sh', '-c', script], workdir: local.spoolDir, ...spec })

it.each([
  ['the command', 1],
  ['the group', -1],
])('the native id can be used to signal %s, also after a restart of the server', async (_, sign) => {
  const handle = await local.executor.start(sh('echo $$; exec sleep 600'))
  const first = await observe(local.executor, handle)
  const { out } = await read(local.executor, handle, { enough: ({ out }) => out.endsWith('\n') })
  expect(first).toMatchObject({ state: 'running', nativeId: out.trim() })
  await local.reopen({})
  expect(await observe(local.executor, handle)).toMatchObject({ state: 'running', nativeId: out.trim() })
  process.kill(sign * Number(out), 'SIGTERM')
  const end = { exitCode: 143, signal: 15, stopped: false, nativeId: out.trim() }
  expect(await untilEnded(local.executor, handle)).toMatchObject(end)
})

it('the native id is the process group of the job, also with stream files, scripts and ranks', async () => {
  await writeFile(join(local.spoolDir, 'pre'), ':')
  const resources = makeResources({ processCount: 2 })
  for (const spec of [{ stdoutPath: 'out' }, { preLaunch: 'pre' }, { launcher: 'multiple', resources }]) {
    const handle = await local.executor.start(sh('ps -o pgid= -p $$; exec sleep 600', spec))
    const { out } = await read(local.executor, handle, { enough: ({ out }) => out.includes('\n') })
    const [, group = ''] = out.match(/(\d+)\n/) ?? []
    expect(await observe(local.executor, handle)).toMatchObject({ state: 'running', nativeId: group })
    process.kill(-Number(group), 'SIGKILL')
    expect(await untilEnded(local.executor, handle)).toMatchObject({ exitCode: 137 })
  }
})
