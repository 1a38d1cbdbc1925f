import { existsSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { describe, expect, it } from 'vitest'
import { Cgroups } from '../../../src/executors/local/cgroups.ts'
import { makeResources, makeRun, read, untilEnded } from '../runs.ts'
import { openLocalPerTest } from './runs.ts'

/** Limits and usage of local runs, with the controllers of this machine. */
const local = openLocalPerTest()

const probed = new Cgroups(tmpdir())
probed.close()
const has = (limit: 'memory' | 'cpu' | 'pids') => !probed.unenforced.includes(limit)

async function finish(script: string, resources: Parameters<typeof makeResources>[0] = {}) {
  const run = makeRun({ command: ['/bin/sh', '-c', script], workdir: '/tmp', resources: makeResources(resources) })
  const handle = await local.executor.start(run)
  const { out } = await read(local.executor, handle)
  const ended = await untilEnded(local.executor, handle)
  await local.executor.forget?.(handle)
  return { ...ended, out }
}

/** A job that needs 200 MB of memory. */
const hungry = 'head -c 200m /dev/zero | tail -c 200m | wc -c'

describe.skipIf(!has('memory'))('the memory of a run', () => {
  it('above the limit ends the run as OOM_KILLED, and is reported as its peak', async () => {
    const ended = await finish(`${hungry}; kill -KILL $$`, { memoryBytes: 2 ** 26 })
    expect(ended).toMatchObject({ exitCode: 137, cause: 'OOM_KILLED' })
    expect(ended.usage?.maxMemoryBytes).toBeGreaterThan(2 ** 25)
    expect(ended.usage?.maxMemoryBytes).toBeLessThanOrEqual(2 ** 26)
  })

  it('below the limit does not end the run', async () => {
    const ended = await finish(`${hungry}; kill -KILL $$`, { memoryBytes: 2 ** 29 })
    expect(ended).toMatchObject({ exitCode: 137, out: '209715200\n' })
    expect(ended.cause).toBeUndefined()
  })

  it('is limited for all copies on this machine together', async () => {
    const ended = await finish(hungry, { memoryBytes: 2 ** 27, nodeCount: 2 })
    expect(ended).toMatchObject({ exitCode: 0, out: '209715200\n' })
  })
})

/** Prints a file of the job's cgroup. */
const fileOf = (controller: string, files: string) =>
  `p=$(sed -n 's/^[0-9]*:\\([^:]*,\\)*${controller}\\(,[^:]*\\)*://p; s/^0::/unified/p' /proc/self/cgroup | head -n 1);
   for m in $(awk '$3 ~ /^cgroup/ && ("," $4 "," $3 ",") ~ /,(${controller}|cgroup2),/ { print $2 }' /proc/self/mounts); do
     cat ${files
       .split(' ')
       .map((file) => `"$m$p/${file}" "$m\${p#unified}/${file}"`)
       .join(' ')} 2>/dev/null; done; true`

it.skipIf(!has('cpu'))('the processor time is limited to the requested cores', async () => {
  const { out } = await finish(fileOf('cpu', 'cpu.cfs_quota_us cpu.max'), { cpu: 0.5 })
  expect(out).toMatch(/^50000\b/m)
})

it.skipIf(!has('cpu'))('the processor time is limited to the cores of all processes together', async () => {
  const { out } = await finish(fileOf('cpu', 'cpu.cfs_quota_us cpu.max'), { processCount: 3, cpuCoresPerProcess: 0.5 })
  expect(out).toMatch(/^150000\b/m)
})

it('a job that requests more cores and memory than the machine has runs if its pool declares them', async () => {
  expect(await finish('exit 3', { cpu: 4_096, memoryBytes: 2 ** 50 })).toMatchObject({ exitCode: 3, signal: null })
  expect(await finish('exit 4', { cpu: 1_000_000, memoryBytes: 2 ** 52 })).toMatchObject({ exitCode: 4, signal: null })
})

it.skipIf(!has('pids'))('the number of processes of a run is limited', async () => {
  const { out } = await finish(fileOf('pids', 'pids.max'))
  expect(out).toMatch(/^32768$/m)
})

it.each([true, false])('the processor time of the whole job is reported (with cgroups: %s)', async (usesCgroups) => {
  await local.reopen({ usesCgroups })
  const { usage } = await finish('i=0; (while [ $i -lt 60000 ]; do i=$((i+1)); done)')
  expect(usage?.cpuSeconds).toBeGreaterThan(0)
})

it('limits that cannot be enforced are listed, and cgroups are removed after the run', async () => {
  const cgroups = new Cgroups(local.spoolDir)
  const handle = await local.executor.start(makeRun({ command: ['/bin/true'], workdir: '/tmp' }))
  await untilEnded(local.executor, handle)
  expect([...cgroups.list()]).toEqual([])
  const { unenforced } = await local.executor.describe()
  expect(unenforced).toEqual(cgroups.unenforced)
  await local.reopen({ usesCgroups: false })
  const { unenforced: all, message } = await local.executor.describe()
  expect(all).toEqual(['memory', 'cpu', 'pids'])
  expect(message).toContain('memory, cpu, pids: planned with, not enforced')
})

it.runIf(probed.unenforced.length > 0)(
  `SKIPPED LOUDLY: this machine does not limit ${probed.unenforced.join(', ')}`,
  () => {
    expect(existsSync('/proc/self/cgroup') ? readFileSync('/proc/self/cgroup', 'utf8') : '').toBeTypeOf('string')
  },
)
