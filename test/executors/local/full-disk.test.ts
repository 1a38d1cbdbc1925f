import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect, it } from 'vitest'
import type { Executor } from '../../../src/executors/executor.ts'
import { makeDirectory } from '../../support/directory.ts'
import { mountSmallDisk } from '../../support/small-disk.ts'
import { until } from '../../support/until.ts'
import { makeRun, observe, untilEnded } from '../runs.ts'
import { openLocal } from './runs.ts'

/** A disk that is full while a job prints. */

/** Reads until the last line. */
async function readAll(executor: Executor, handle: string) {
  const seen = { out: '', gaps: [] as string[] }
  const enough = new AbortController()
  for await (const chunk of executor.logs(handle, null, enough.signal)) {
    if ('gap' in chunk) seen.gaps.push(chunk.gap)
    else seen.out += Buffer.from(chunk.bytes).toString('latin1')
    if (seen.out.endsWith(`x ${count}\n`)) enough.abort()
  }
  return seen
}

const numbersIn = (text: string) => [...text.matchAll(/^x+ (\d+)$/gm)].map(([, number]) => Number(number))
/** All lines fit into a pipe. */
const count = 40

it.each([
  ['continues', 'sleep 600'],
  ['ended long before, beyond the limit for hung readers,', 'exit 3'],
])('the output of a job that %s waits in its pipe while the disk is full', async (_, last) => {
  await using disk = await mountSmallDisk(1)
  if (!disk) return
  const signals = makeDirectory()
  const executor = await openLocal(join(disk.path, 'spool'))
  const line = 'x'.repeat(500)
  const print = `i=0; while [ $i -lt ${count} ]; do i=$((i+1)); echo "${line} $i"; sleep 0.05; done`
  const script = `until [ -e "$0/go" ]; do sleep 0.02; done; ${print}; : >"$0/printed"; ${last}`
  const handle = await executor.start(makeRun({ command: ['/bin/sh', '-c', script, signals], workdir: '/' }))
  await disk.fill()
  await writeFile(join(signals, 'go'), '')
  await until(() => existsSync(join(signals, 'printed')), { what: 'all was printed' })
  if (last !== 'sleep 600')
    for (let looks = 0; looks < 13; looks++) {
      expect(await observe(executor, handle)).toMatchObject({ state: 'running' })
      await setTimeout(1_000)
    }
  await disk.free()
  const { out, gaps } = await readAll(executor, handle)
  await executor.stop(handle, 0)
  const numbers = numbersIn(out)
  expect(gaps).toEqual(['DISK_FULL'])
  // The write that met the full disk is lost.
  expect(numbers.at(-1)).toBe(count)
  expect(numbers.length).toBeGreaterThan(count / 2)
  expect(await untilEnded(executor, handle)).toMatchObject({ exitCode: last === 'exit 3' ? 3 : 137 })
  await executor.forget?.(handle)
  await executor.close()
})
