import { expect, test } from 'vitest'
import type { Ceilings } from '../../src/domain/in-use.ts'
import type { FreeNode } from '../../src/domain/placement.ts'
import { plan, type WaitingJob } from '../../src/scheduler/plan.ts'

const node: FreeNode = {
  id: 'n',
  name: 'n',
  state: 'READY',
  cpuMillis: 4000,
  memoryBytes: 64,
  freeCpu: 4000,
  freeMemory: 64,
  cpuModel: null,
  infiniband: false,
  devices: [],
}

const job = (jobId: string, cpuMillis = 1000): WaitingJob => ({
  jobId,
  userId: 'user_ann',
  userName: 'ann',
  teamId: null,
  team: null,
  queue: 'default',
  project: null,
  gpu: 0,
  runId: `run of ${jobId}`,
  run: 1,
  version: 1,
  shape: {
    copies: 1,
    cpuMillis,
    memoryBytes: 1,
    gpu: 0,
    gpuMemoryGib: null,
    gpuTensorCores: false,
    cudaVersion: null,
    cpuModel: [],
    gpuModel: [],
    infiniband: false,
    gpuIds: null,
    anyGpu: false,
    exclusive: false,
  },
})

const noLimits: Ceilings = { pool: 'p', rules: [], tally: new Map() }

const started = (waiting: WaitingJob[], max = 50) => {
  const { starts, blockedBy, considered } = plan({ waiting, nodes: [node], ceilings: noLimits }, max)
  return { starts: starts.map((start) => start.job.jobId), blockedBy, considered }
}

test('starts in order while there is room', () => {
  expect(started([job('a'), job('b', 2000), job('c')])).toEqual({
    starts: ['a', 'b', 'c'],
    blockedBy: null,
    considered: 3,
  })
})

test('the first that does not fit now ends the pass: nobody overtakes it', () => {
  expect(started([job('a', 3000), job('b', 2000), job('c')])).toEqual({ starts: ['a'], blockedBy: 'b', considered: 2 })
})

test('a job that could never fit is passed over', () => {
  expect(started([job('giant', 5000), job('b')])).toEqual({ starts: ['b'], blockedBy: null, considered: 2 })
})

test('stops at the size of a batch, and says how far it looked', () => {
  expect(started([job('a'), job('b'), job('c')], 2)).toEqual({ starts: ['a', 'b'], blockedBy: null, considered: 2 })
})

test('nothing waits: nothing happens', () => {
  expect(started([])).toEqual({ starts: [], blockedBy: null, considered: 0 })
})
