import { expect, test } from 'vitest'
import { describeShape, toShape } from '../../src/domain/shape.ts'
import { countProcesses, type Resources } from '../../src/domain/spec.ts'
import { makeResources } from '../executors/runs.ts'

test.for([
  [{}, 1, 1, 1],
  [{ processCount: 1, processesPerNode: 1 }, 1, 1, 1],
  [{ processCount: 10, processesPerNode: 2 }, 5, 10, 2],
  [{ processCount: 10, processesPerNode: 3 }, 4, 10, 3],
  [{ processCount: 3, processesPerNode: 10 }, 1, 3, 3],
  [{ processCount: 4 }, 1, 4, 4],
  [{ nodeCount: 3, processesPerNode: 2 }, 3, 6, 2],
  [{ nodeCount: 3 }, 3, 3, 1],
] as const)(
  'resources %j need %i nodes and %i processes, at most %i of them on one node',
  ([asked, nodes, processes, perNode]) => {
    const resources = makeResources({ ...asked, cpuCoresPerProcess: 1, gpuCoresPerProcess: 2 })
    expect(toShape(resources)).toMatchObject({
      copies: nodes,
      distinctNodes: 'nodeCount' in asked || 'processesPerNode' in asked,
      cpuMillis: perNode * 1000,
      gpu: perNode * 2,
    })
    expect(countProcesses(resources)).toBe(processes)
  },
)

test.for<[Partial<Resources>, string]>([
  [{ gpu: 1, gpuIds: [0] }, '1 GPU (with id 0)'],
  [{ gpu: 2, gpuIds: [0, 3] }, '2 GPUs (with ids 0, 3)'],
  [{ gpu: 1, gpuIds: [0, 3] }, '1 GPU (with ids among 0, 3)'],
  [{ gpu: 1, gpuIds: [0, 3], anyGpu: true }, '1 GPU on one node'],
])('named GPUs appear in the description of a job: %j becomes %s', ([asked, words]) => {
  expect(describeShape(toShape(makeResources(asked)))).toContain(words)
})
