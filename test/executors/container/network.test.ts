import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'vitest'
import { hasSecondDockerd } from '../../../src/executors/container/network.ts'
import { until } from '../../support/until.ts'

test('a second dockerd on this machine is found', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'berth-dockerd-'))
  const program = join(directory, 'dockerd')
  await copyFile('/bin/sleep', program)
  const processes = [spawn(program, ['60']), spawn(program, ['60'])]
  try {
    await until(() => hasSecondDockerd(), { what: 'both run' })
  } finally {
    for (const each of processes) each.kill('SIGKILL')
    await Promise.all(processes.map((each) => once(each, 'exit')))
    await rm(directory, { recursive: true })
  }
})
