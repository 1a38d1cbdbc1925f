import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Sample, SampledRun } from '../executor.ts'

/** GPUs and their use, as `nvidia-smi` reports them. */

export interface Gpu {
  model: string
  uuid?: string
  memoryGib: number
  tensorCores: boolean
  /** Lowest and highest CUDA version that the driver supports; empty: unknown. */
  cuda: string[]
}

export interface GpuUse {
  /** NaN: the driver does not report it. */
  percent: number
  memoryBytes: number
}

const run = promisify(execFile)
const answerMsMax = 5_000
export const gpuArguments = ['--query-gpu=name,memory.total,compute_cap,uuid', '--format=csv,noheader,nounits'] as const
const useArguments = ['--query-gpu=index,utilization.gpu,memory.used', '--format=csv,noheader,nounits']

/** Reads the use of all GPUs by index, with one call of `nvidia-smi`. Empty if it is missing, or if no run has GPUs. */
export async function readGpuUse(runs: readonly SampledRun[]): Promise<ReadonlyMap<number, GpuUse>> {
  if (runs.every(({ gpuIds }) => gpuIds.length === 0)) return new Map()
  const output = await run('nvidia-smi', useArguments, { timeout: answerMsMax }).catch(() => null)
  return parseGpuUse(output?.stdout ?? '')
}

/** Parses lines such as `0, 35, 1024`; memory is in MiB. A value that the driver does not report is `[N/A]`. */
export function parseGpuUse(output: string): ReadonlyMap<number, GpuUse> {
  return new Map(
    output.split('\n').flatMap((line): [number, GpuUse][] => {
      const [index = Number.NaN, percent = Number.NaN, memory = Number.NaN] = line
        .split(',')
        .map((field) => Number(field.trim() || Number.NaN))
      return Number.isNaN(index) ? [] : [[index, { percent, memoryBytes: memory * 1024 ** 2 }]]
    }),
  )
}

/** Sums the use of these GPUs. Empty if one of them is unknown. */
export function sampleGpus(gpuIds: readonly number[], uses: ReadonlyMap<number, GpuUse>): Sample {
  const add = (key: keyof GpuUse) => gpuIds.reduce((sum, id) => sum + (uses.get(id)?.[key] ?? Number.NaN), 0)
  const [percent, memoryBytes] = [add('percent') / gpuIds.length, add('memoryBytes')]
  return {
    ...(!Number.isNaN(percent) && { gpuPercent: percent }),
    ...(gpuIds.length > 0 && !Number.isNaN(memoryBytes) && { gpuMemoryBytes: memoryBytes }),
  }
}

/**
 * Parses the GPUs. GPUs have tensor cores since compute capability 7.0. A driver supports every CUDA version up to its
 * own.
 */
export function parseGpus(table: string, banner: string): Gpu[] {
  const cuda = banner.match(/CUDA Version: *(\d+\.\d+)/)?.[1]
  return table
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [model = '', memoryMib, capability, uuid = ''] = line.split(',').map((field) => field.trim())
      return {
        model,
        ...(uuid !== '' && { uuid }),
        memoryGib: Math.round(Number(memoryMib) / 1024),
        tensorCores: Number(capability) >= 7,
        cuda: cuda === undefined ? [] : ['1.0', cuda],
      }
    })
}
