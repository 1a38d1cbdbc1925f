import { expect, test } from 'vitest'
import { parseGpuUse, readGpuUse, sampleGpus } from '../../../src/executors/backend/gpus.ts'

/** Output of a machine with two A100 and a GPU in MIG mode, for which the driver reports no utilization. */
const output = '0, 35, 1024\n1, 100, 40536\n2, [N/A], 512\n'
const mebibyte = 1024 ** 2

test('the sample of a run has the average utilization and the total memory of its GPUs', () => {
  const uses = parseGpuUse(output)
  expect(sampleGpus([0], uses)).toEqual({ gpuPercent: 35, gpuMemoryBytes: 1024 * mebibyte })
  expect(sampleGpus([0, 1], uses)).toEqual({ gpuPercent: 67.5, gpuMemoryBytes: 41_560 * mebibyte })
  expect(sampleGpus([1, 2], uses)).toEqual({ gpuMemoryBytes: 41_048 * mebibyte })
  expect(sampleGpus([0, 7], uses)).toEqual({})
  expect(sampleGpus([], uses)).toEqual({})
})

test('the sample of a run without GPUs, or without nvidia-smi, is empty', async () => {
  expect(await readGpuUse([{ handle: 'a', gpuIds: [] }])).toEqual(new Map())
  expect(parseGpuUse('NVIDIA-SMI has failed because it could not communicate with the NVIDIA driver.\n')).toEqual(
    new Map(),
  )
  expect(parseGpuUse('')).toEqual(new Map())
})
