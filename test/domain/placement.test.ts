import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { couldEverFit, type FreeNode, place } from '../../src/domain/placement.ts'
import type { Shape } from '../../src/domain/shape.ts'

const shape = (asks: Partial<Shape> = {}): Shape => ({
  copies: 1,
  cpuMillis: 1000,
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
  ...asks,
})

const gpus = (model: string, memoryGib: number, more: { tensorCores: boolean; cuda: string[] }) =>
  Array.from({ length: 8 }, (_, index) => ({ index, model, memoryGib, free: true, ...more }))

const node = (name: string, more: Partial<FreeNode> = {}): FreeNode => ({
  id: name,
  name,
  state: 'READY',
  cpuMillis: 16_000,
  memoryBytes: 64,
  freeCpu: 16_000,
  freeMemory: 64,
  cpuModel: null,
  infiniband: false,
  devices: [],
  ...more,
})

const mixed = [
  node('p100', { devices: gpus('Tesla P100-PCIE-16GB', 16, { tensorCores: false, cuda: ['8.0', '10.2'] }) }),
  node('v100', { devices: gpus('Tesla V100-SXM2-32GB', 32, { tensorCores: true, cuda: ['9.0', '11.8'] }) }),
  node('h100', { devices: gpus('NVIDIA H100', 80, { tensorCores: true, cuda: ['11.8', '12.8'] }), infiniband: true }),
]

/** Names of the nodes that can serve it, each asked alone. */
const servedBy = (asks: Partial<Shape>) =>
  mixed.filter((one) => place(shape({ gpu: 1, ...asks }), [one])).map(({ name }) => name)

describe('filters', () => {
  test.each([
    [{ gpuMemoryGib: 16 }, ['p100', 'v100', 'h100']],
    [{ gpuMemoryGib: 17 }, ['v100', 'h100']],
    [{ gpuMemoryGib: 81 }, []],
    [{ gpuTensorCores: true }, ['v100', 'h100']],
    [{ cudaVersion: '10.2' }, ['p100', 'v100']],
    [{ cudaVersion: '11.8' }, ['v100', 'h100']],
    [{ cudaVersion: '12.9' }, []],
    [{ cudaVersion: '9.10' }, ['p100', 'v100']],
    [{ gpuModel: ['v100'] }, ['v100']],
    [{ gpuModel: ['!V100'] }, ['p100', 'h100']],
    [{ gpuModel: ['tesla', '!p100'] }, ['v100']],
    [{ gpuModel: ['%'] }, []],
    [{ infiniband: true }, ['h100']],
  ])('%j is served by %j', (asks, names) => {
    expect(servedBy(asks)).toEqual(names)
  })

  test.each(['CORDONED', 'DRAINING', 'LOST'] as const)('a %s node takes nothing new', (state) => {
    expect(place(shape(), [node('n', { state })])).toBeNull()
    expect(couldEverFit(shape(), [node('n', { state })])).toBe(true)
  })
})

describe('choice', () => {
  test('named devices in their order; fewer free than asked: it waits', () => {
    const busy = gpus('x', 16, { tensorCores: false, cuda: [] }).map((device) => ({
      ...device,
      free: device.index > 1,
    }))
    const at = (asks: Partial<Shape>) =>
      place(shape({ gpu: 2, ...asks }), [node('n', { devices: busy.slice(0, 4) })])?.[0]?.gpuIds
    expect(at({ gpuIds: [1, 2] })).toBeUndefined()
    expect(at({ gpuIds: [1, 2], anyGpu: true })).toEqual([2, 3])
    expect(at({ gpuIds: [3, 2] })).toEqual([3, 2])
  })

  test('the node on which least is left over', () => {
    const nodes = [node('big'), node('tight', { freeCpu: 1000 })]
    expect(place(shape(), nodes)?.[0]?.node).toBe('tight')
    expect(place(shape(), mixed)?.[0]?.node).toBe('p100')
  })

  test('an exclusive job takes a whole untouched node', () => {
    expect(place(shape({ exclusive: true }), [node('n', { freeCpu: 15_999 })])).toBeNull()
    expect(place(shape({ exclusive: true }), [node('n')])).toMatchObject([{ cpuMillis: 16_000, memoryBytes: 64 }])
  })

  test('all copies or none; with InfiniBand on distinct nodes', () => {
    const nodes = [node('a', { infiniband: true }), node('b', { infiniband: true })]
    expect(place(shape({ copies: 3, cpuMillis: 16_000 }), nodes)).toBeNull()
    expect(
      place(shape({ copies: 2, infiniband: true }), nodes)
        ?.map((one) => one.node)
        .toSorted(),
    ).toEqual(['a', 'b'])
    expect(place(shape({ copies: 3, infiniband: true }), nodes)).toBeNull()
  })
})

test('whatever is placed fits, and no device is given twice', () => {
  const amount = fc.integer({ min: 0, max: 8 })
  fc.assert(
    fc.property(
      fc.array(fc.tuple(amount, amount), { minLength: 1, maxLength: 4 }),
      amount,
      fc.integer({ min: 1, max: 6 }),
      (free, gpu, copies) => {
        const nodes = free.map(([cpu, devices], index) =>
          node(`n${index}`, {
            freeCpu: cpu * 1000,
            devices: gpus('x', 16, { tensorCores: false, cuda: [] }).map((device) => ({
              ...device,
              free: device.index < devices,
            })),
          }),
        )
        const placements = place(shape({ copies, gpu }), nodes) ?? []
        for (const { id, freeCpu, devices } of nodes) {
          const here = placements.filter(({ nodeId }) => nodeId === id)
          const ids = here.flatMap(({ gpuIds }) => gpuIds)
          expect(here.length * 1000).toBeLessThanOrEqual(freeCpu)
          expect(new Set(ids).size).toBe(ids.length)
          expect(ids.every((index) => devices[index]?.free)).toBe(true)
        }
      },
    ),
  )
})
