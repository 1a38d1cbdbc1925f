import { expect, test } from 'vitest'
import { InvalidInput } from '../../src/domain/errors.ts'
import type { JobSpec } from '../../src/domain/spec.ts'
import { openTestDomain, simNode } from '../support/domain.ts'
import { submitJobs } from '../support/submit-jobs.ts'

/** Scheduling fields of a submission, before the planner reads them. */
const v100 = { model: 'Tesla V100-SXM2-32GB', memoryGib: 32, tensorCores: true, cuda: ['9.0', '11.8'] }
const nodes = [{ ...simNode, devices: [0, 1, 2, 3].map((index) => ({ ...v100, index })) }]
const { database, it } = await openTestDomain({ nodes, pool: { relaxReplicas: false } })

async function taken(fields: Record<string, unknown>): Promise<{ spec: JobSpec; warnings: string[] }> {
  const [outcome] = await submitJobs(it.domain, it.admin, [{ spec: { command: ['true'], ...fields } }])
  if (!outcome || outcome instanceof Error) throw outcome ?? new Error('No outcome')
  const [row] = await database.db.sql.query<{ spec: JobSpec }>('SELECT spec FROM job WHERE id = $1', [outcome.jobId])
  if (!row) throw new Error('No job')
  return { spec: row.spec, warnings: outcome.warnings }
}

/** Paths of the fields that are refused. */
async function refused(fields: Record<string, unknown>): Promise<string[]> {
  const [outcome] = await submitJobs(it.domain, it.admin, [{ spec: { command: ['true'], ...fields } }])
  if (!(outcome instanceof InvalidInput))
    throw outcome instanceof Error ? outcome : new Error('The submission was accepted')
  return outcome.violations.map(({ path }) => path.slice(1).join('.'))
}

const gpus = (resources: object) => ({ resources: { gpu: 2, ...resources } })

test.each([
  [{}, { interactive: false, preemptable: false, restartable: false }, 172_800, []],
  [{ preemptable: true }, { interactive: false, preemptable: true, restartable: false }, 0, []],
  [{ restartable: true }, { interactive: false, preemptable: true, restartable: true }, 0, []],
  [{ interactive: true }, { interactive: true, preemptable: false, restartable: false }, 0, []],
  [
    { restartable: true, preemptable: false },
    { interactive: false, preemptable: true, restartable: true },
    0,
    ['preemptable was set to true'],
  ],
  [
    { interactive: true, preemptable: true, restartable: true },
    { interactive: true, preemptable: false, restartable: false },
    0,
    ['preemptable was set to false', 'restartable was set to false'],
  ],
])(
  'interactive, preemptable and restartable get consistent values, with a default maximum run time: %o',
  async (given, flags, maxRunTimeSeconds, told) => {
    const { spec, warnings } = await taken(given)
    expect(spec).toMatchObject({ ...flags, maxRunTimeSeconds })
    expect(warnings).toHaveLength(told.length)
    for (const [index, words] of told.entries()) expect(warnings[index]).toContain(words)
  },
)

test('a bid must be a whole number from 0, or null', async () => {
  expect((await taken({ bid: 42 })).spec.bid).toBe(42)
  expect((await taken({ bid: 2_147_483_647 })).spec.bid).toBe(2_147_483_647)
  expect((await taken({})).spec.bid).toBeNull()
  for (const bid of [-1, 1.5, 2_147_483_648]) expect(await refused({ bid })).toEqual(['bid'])
})

test('durationSeconds becomes the maximum run time; if both are given and differ, the job is refused', async () => {
  expect((await taken({ durationSeconds: 60 })).spec).toMatchObject({ durationSeconds: 60, maxRunTimeSeconds: 60 })
  expect((await taken({ durationSeconds: 60, maxRunTimeSeconds: 60 })).spec.maxRunTimeSeconds).toBe(60)
  expect(await refused({ durationSeconds: 60, maxRunTimeSeconds: 90 })).toEqual(['durationSeconds'])
})

test('model filters may not be empty or a bare !, and GPU filters require GPUs', async () => {
  for (const gpuModel of [['v100'], ['!V100'], ['tesla', '!p100'], ['%']])
    expect((await taken(gpus({ gpuModel }))).spec.resources.gpuModel).toEqual(gpuModel)
  for (const filter of ['', '!']) {
    expect(await refused(gpus({ gpuModel: ['v100', filter] }))).toEqual(['resources.gpuModel.1'])
    expect(await refused({ resources: { cpuModel: [filter] } })).toEqual(['resources.cpuModel.0'])
  }
  for (const [field, value] of Object.entries({
    gpuModel: ['v100'],
    gpuMemoryGib: 16,
    gpuTensorCores: true,
    cudaVersion: '11.8',
    gpuIds: [1],
  })) {
    expect(await refused({ resources: { [field]: value } })).toEqual([`resources.${field}`])
    expect(await refused({ resources: { gpu: 0, [field]: value } })).toEqual([`resources.${field}`])
  }
  for (const cudaVersion of ['new', '11.', ''])
    expect(await refused(gpus({ cudaVersion }))).toEqual(['resources.cudaVersion'])
  expect((await taken(gpus({ cudaVersion: '12.9', gpuMemoryGib: 81 }))).spec.resources.gpu).toBe(2)
})

test('gpuIds must be distinct, exist in the pool, and be enough for the requested GPUs', async () => {
  expect((await taken(gpus({ gpuIds: [1, 2] }))).spec.resources).toMatchObject({ gpuIds: [1, 2], anyGpu: false })
  const { spec, warnings } = await taken(gpus({ gpuIds: [2, 2, 3] }))
  expect(spec.resources.gpuIds).toEqual([2, 3])
  expect(warnings).toEqual([expect.stringContaining('twice')])
  expect(await refused(gpus({ gpuIds: [2] }))).toEqual(['resources.gpuIds'])
  expect(await refused(gpus({ gpuIds: [2, 2] }))).toEqual(['resources.gpuIds'])
  expect((await taken(gpus({ gpuIds: [2], anyGpu: true }))).spec.resources.anyGpu).toBe(true)
  expect(await refused({ resources: { gpu: 1, gpuIds: [9] } })).toEqual(['resources.gpuIds'])
  const perProcess = { gpuCoresPerProcess: 2, processCount: 1 }
  expect(await refused({ resources: { ...perProcess, gpuIds: [2] } })).toEqual(['resources.gpuIds'])
  expect((await taken({ resources: { ...perProcess, gpuIds: [2, 3] } })).spec.resources.gpuIds).toEqual([2, 3])
  const onNodes = { ...perProcess, processCount: 6, processesPerNode: 1 }
  expect((await taken({ resources: { ...onNodes, gpuIds: [2, 3] } })).spec.resources.processesPerNode).toBe(1)
})

test('replicas require InfiniBand, GPUs, GPU memory and a GPU model', async () => {
  const replicas = (more: object) => ({ resources: { replicas: 2, ...more } })
  expect(await refused(replicas({}))).toEqual([
    'resources.infiniband',
    'resources.gpu',
    'resources.gpuMemoryGib',
    'resources.gpuModel',
  ])
  const whole = { infiniband: true, gpu: 1, gpuMemoryGib: 16, gpuModel: ['v100'] }
  for (const missing of ['infiniband', 'gpuMemoryGib', 'gpuModel'] as const)
    expect(await refused(replicas({ ...whole, [missing]: undefined }))).toEqual([`resources.${missing}`])
  expect(await refused(replicas({ ...whole, gpuModel: [] }))).toEqual(['resources.gpuModel'])
  expect((await taken(replicas(whole))).spec.resources.replicas).toBe(2)
})

test('unknown capacity reservations and queues are refused', async () => {
  expect((await taken({ resumable: true })).spec.resumable).toBe(true)
  expect((await taken({ resumable: false })).spec.resumable).toBe(false)
  expect(await refused({ capacityReservationId: 'reservation_x' })).toEqual(['capacityReservationId'])
  expect(await refused({ queue: 'moon' })).toEqual(['queue'])
})
