import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Executor, Sample } from '../../../src/executors/executor.ts'
import { parseUse } from '../../../src/executors/local/processes.ts'
import { CgroupReader } from '../../../src/executors/local/samples.ts'
import { makeDirectory } from '../../support/directory.ts'
import { until } from '../../support/until.ts'
import { makeRun, untilState } from '../runs.ts'
import { openLocalPerTest } from './runs.ts'

const local = openLocalPerTest()

/** A run with a child process that uses one core and 64 MiB of memory. */
const busy = [
  process.execPath,
  '-e',
  `require('child_process').spawnSync(process.execPath, ['-e', 'const kept = Buffer.alloc(64 << 20, 1); for (;;) kept[0]++'])`,
]

async function sampleOne(executor: Executor, handle: string): Promise<Sample> {
  const [sample] = (await executor.sample?.([{ handle, gpuIds: [] }])) ?? []
  if (!sample) throw new Error('No sample')
  return sample
}

describe.skipIf(process.platform !== 'linux').each([
  ['in cgroups, where the machine allows them,', {}],
  ['without cgroups', { usesCgroups: false }],
])('a run that is measured %s', (_, options) => {
  beforeEach(() => local.reopen(options))

  test('has the sum of all its processes as its sample', async () => {
    const handle = await local.executor.start(makeRun({ command: busy }))
    await untilState(local.executor, handle, 'running')
    const used = await until(
      async () => {
        const sample = await sampleOne(local.executor, handle)
        return (sample.memoryBytes ?? 0) > 64 * 2 ** 20 && (sample.cpuSeconds ?? 0) > 0.3 && sample
      },
      { what: 'the run uses memory and processor time' },
    )
    expect(used.memoryBytes).toBeLessThan(1024 * 2 ** 20)
    await until(async () => ((await sampleOne(local.executor, handle)).cpuSeconds ?? 0) > (used.cpuSeconds ?? 0), {
      what: 'its processor time grows',
    })
    await local.executor.stop(handle, 0)
    await untilState(local.executor, handle, 'ended')
    await local.executor.forget?.(handle)
    expect(await sampleOne(local.executor, handle)).toEqual({})
  })
})

test('the sample of an unknown run is empty, and other runs are still sampled', async () => {
  const handle = await local.executor.start(makeRun({ command: ['sleep', '600'] }))
  await untilState(local.executor, handle, 'running')
  const runs = ['run_unknown', handle, '../..'].map((each) => ({ handle: each, gpuIds: [] }))
  const samples = await until(
    async () => {
      const all = await local.executor.sample?.(runs)
      return all?.[1]?.memoryBytes !== undefined && all
    },
    { what: 'the run has begun' },
  )
  expect(samples).toEqual([{}, { cpuSeconds: expect.any(Number), memoryBytes: expect.any(Number) }, {}])
  await local.executor.stop(handle, 0)
  await untilState(local.executor, handle, 'ended')
})

describe('the resource use in a cgroup', () => {
  let root: string
  const reader = new CgroupReader()
  beforeEach(async () => {
    root = makeDirectory()
  })

  async function make(name: string, files: Record<string, string>): Promise<string> {
    const path = join(root, name, 'run_1')
    await mkdir(path, { recursive: true })
    for (const [file, text] of Object.entries(files)) await writeFile(join(path, file), text)
    return path
  }

  test('is read with version 2', async () => {
    const cgroup = await make('v2', {
      'cpu.stat': 'usage_usec 2500000\nuser_usec 2000000\nsystem_usec 500000\nnr_periods 0\n',
      'memory.current': '104857600\n',
      'memory.stat':
        'anon 52428800\nfile 41943040\ninactive_anon 52428800\ninactive_file 20971520\nactive_file 20971520\n',
    })
    expect(reader.sample([cgroup])).toEqual({ cpuSeconds: 2.5, memoryBytes: 83_886_080 })
  })

  test('is read with version 1, which has a cgroup per controller', async () => {
    const memory = await make('memory', {
      'memory.usage_in_bytes': '104857600\n',
      'memory.stat': 'cache 41943040\ninactive_file 1\ntotal_inactive_file 20971520\n',
    })
    const cpu = await make('cpu', { 'cpuacct.usage': '1500000000\n', 'cpu.stat': 'nr_periods 0\n' })
    expect(reader.sample([memory, cpu])).toEqual({ cpuSeconds: 1.5, memoryBytes: 83_886_080 })
    expect(reader.sample([memory])).toEqual({ memoryBytes: 83_886_080 })
  })

  test('is unknown if the files do not exist', () => {
    expect(reader.sample([join(root, 'none', 'run_1')])).toEqual({})
  })
})

test('the row of a process has the processor time of its ended children, and its resident memory', () => {
  const row =
    '4242 (a) b) S 4200 4242 4242 0 -1 4194560 1000 2000 0 0 150 50 30 20 20 0 3 0 123456 1000000 2560 18446744073709551615'
  expect(parseUse(row)).toEqual({
    pid: 4242,
    group: 4242,
    session: 4242,
    born: '123456',
    ticks: 250,
    residentPages: 2560,
  })
  expect(parseUse(row.replace(') S', ') Z'))).toBeNull()
})
