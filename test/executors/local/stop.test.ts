import { readFileSync } from 'node:fs'
import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { makeRun, observe, read, untilEnded } from '../runs.ts'
import { openLocalPerTest } from './runs.ts'

const local = openLocalPerTest()

/** Starts the script, and waits until it has printed "begun". */
async function begin(script: string): Promise<string> {
  const handle = await local.executor.start(makeRun({ command: ['/bin/sh', '-c', script], workdir: '/tmp' }))
  await read(local.executor, handle, { enough: ({ out }) => out === 'begun\n' })
  return handle
}

it('TERM is sent for a recorded stop request after the server was killed before it sent TERM', async () => {
  const handle = await begin('trap "exit 9" TERM; echo begun; while :; do sleep 0.1; done')
  await local.executor.close()
  const up = Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]) + 600
  await appendFile(join(local.spoolDir, 'runs', handle, 'journal'), `stop 600.000 ${up}\n`)
  await local.reopen({})
  expect(await untilEnded(local.executor, handle)).toMatchObject({ exitCode: 9, stopped: true })
})

it('TERM is sent once per stop request, also with many inspections and after a restart', async () => {
  const handle = await begin("n=0; trap 'n=$((n+1)); echo $n' TERM; echo begun; while :; do sleep 0.05; done")
  const look = async () => {
    for (let n = 0; n < 10; n++) await observe(local.executor, handle)
  }
  await local.executor.stop(handle, 600_000)
  await look()
  await local.reopen({})
  await look()
  await local.executor.stop(handle, 600_000)
  await local.executor.stop(handle, 0)
  expect((await read(local.executor, handle)).out).toBe('begun\n1\n')
})
