import { expect, test } from 'vitest'
import { shapeOf } from '../../src/domain/shape.ts'
import { processCountOf } from '../../src/domain/spec.ts'
import { resourcesOf } from '../executors/runs.ts'

test.for([
  [{}, 1, 1, 1],
  [{ processCount: 1, processesPerNode: 1 }, 1, 1, 1],
  [{ processCount: 10, processesPerNode: 2 }, 5, 10, 2],
  [{ processCount: 10, processesPerNode: 3 }, 4, 10, 3],
  [{ processCount: 3, processesPerNode: 10 }, 1, 3, 3],
  [{ processCount: 4 }, 1, 4, 4],
  [{ nodeCount: 3, processesPerNode: 2 }, 3, 6, 2],
  [{ nodeCount: 3 }, 3, 3, 1],
] as const)('%j: %i nodes, %i processes, %i at most on one', ([asked, nodes, processes, perNode]) => {
  const resources = resourcesOf({ ...asked, cpuCoresPerProcess: 1, gpuCoresPerProcess: 2 })
  expect(shapeOf(resources)).toMatchObject({ copies: nodes, cpuMillis: perNode * 1000, gpu: perNode * 2 })
  expect(processCountOf(resources)).toBe(processes)
})
