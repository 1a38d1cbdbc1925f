import type { FreeDevice, FreeNode } from '../../src/domain/machines/placement.ts'
import type { Shape } from '../../src/domain/shape.ts'

/** Machines and requests, for tests of pure rules. */
export const shape = (asks: Partial<Shape> = {}): Shape => ({
  copies: 1,
  distinctNodes: false,
  cpuMillis: 1000,
  memoryBytes: 1,
  gpu: 0,
  gpuMemoryBytes: null,
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

export type Model = Pick<FreeDevice, 'model' | 'memoryGib' | 'tensorCores' | 'cuda'>

export const p100: Model = { model: 'Tesla P100-PCIE-16GB', memoryGib: 16, tensorCores: false, cuda: ['8.0', '10.2'] }
export const v100: Model = { model: 'Tesla V100-SXM2-32GB', memoryGib: 32, tensorCores: true, cuda: ['9.0', '11.8'] }
export const h100: Model = { model: 'NVIDIA H100', memoryGib: 80, tensorCores: true, cuda: ['11.8', '12.8'] }

/** `free`: indexes of the free devices; default: all. */
export const gpus = (model: Model, count = 8, free: readonly number[] | null = null): FreeDevice[] =>
  Array.from({ length: count }, (_, index) => ({ index, ...model, free: free?.includes(index) ?? true }))

export const node = (name: string, more: Partial<FreeNode> = {}): FreeNode => ({
  id: name,
  name,
  state: 'READY',
  cpuMillis: 16_000,
  memoryBytes: 64,
  freeCpu: 16_000,
  freeMemory: 64,
  cpuModel: null,
  infiniband: false,
  infinibandFree: more.infiniband ?? false,
  gpuJobsOnly: false,
  backOff: null,
  interactive: 0,
  devices: [],
  others: null,
  ...more,
})
