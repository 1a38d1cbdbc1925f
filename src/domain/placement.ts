import type { Shape } from './shape.ts'

/**
 * Where a job fits. Pure: nodes in, placement out. Filters say which nodes and devices may serve a copy; among those the
 * tightest node is taken, and the weakest adequate devices. A job of several copies is placed whole or not at all.
 */
export interface FreeNode {
  id: string
  name: string
  state: 'READY' | 'CORDONED' | 'DRAINING' | 'LOST'
  cpuMillis: number
  memoryBytes: number
  freeCpu: number
  freeMemory: number
  cpuModel: string | null
  infiniband: boolean
  devices: readonly FreeDevice[]
}

export interface FreeDevice {
  index: number
  model: string
  memoryGib: number
  tensorCores: boolean
  /** Lowest and highest CUDA version, or empty: any. */
  cuda: readonly string[]
  free: boolean
}

export interface Placement {
  nodeId: string
  node: string
  replica: number
  cpuMillis: number
  memoryBytes: number
  gpuIds: readonly number[]
}

export function place(shape: Shape, nodes: readonly FreeNode[]): Placement[] | null {
  const left = new Map(nodes.map((node) => [node.id, node]))
  const placements: Placement[] = []
  for (let replica = 0; replica < shape.copies; replica++) {
    const best = [...left.values()]
      .flatMap((node) => fit(shape, node) ?? [])
      .filter(({ nodeId }) => !shape.infiniband || placements.every((earlier) => earlier.nodeId !== nodeId))
      .reduce<Fit | null>((a, b) => (a && a.leftover <= b.leftover ? a : b), null)
    const node = best && left.get(best.nodeId)
    if (!best || !node) return null
    placements.push({ nodeId: best.nodeId, node: node.name, replica, ...best.takes })
    left.set(best.nodeId, taken(node, best.takes))
  }
  return placements
}

/** Whether the job could start if nothing else ran. */
export const couldEverFit = (shape: Shape, nodes: readonly FreeNode[]): boolean =>
  place(
    shape,
    nodes.map((node) => ({
      ...node,
      state: 'READY',
      freeCpu: node.cpuMillis,
      freeMemory: node.memoryBytes,
      devices: node.devices.map((device) => ({ ...device, free: true })),
    })),
  ) !== null

export interface Takes {
  cpuMillis: number
  memoryBytes: number
  gpuIds: readonly number[]
}

interface Fit {
  nodeId: string
  takes: Takes
  /** Smaller is tighter: GPUs that stay free weigh most, then cores. */
  leftover: number
}

function fit(shape: Shape, node: FreeNode): Fit | null {
  if (
    node.state !== 'READY' ||
    (shape.infiniband && !node.infiniband) ||
    !matchesAll(shape.cpuModel, node.cpuModel ?? '')
  )
    return null
  const untouched = node.freeCpu === node.cpuMillis && node.freeMemory === node.memoryBytes
  if (shape.exclusive && !untouched) return null
  const cpuMillis = shape.exclusive ? node.cpuMillis : shape.cpuMillis
  const memoryBytes = shape.exclusive ? node.memoryBytes : shape.memoryBytes
  if (shape.cpuMillis > node.freeCpu || shape.memoryBytes > node.freeMemory) return null
  const gpuIds = chooseDevices(shape, node.devices)
  if (!gpuIds) return null
  const freeGpus = node.devices.filter((device) => device.free).length - gpuIds.length
  return {
    nodeId: node.id,
    takes: { cpuMillis, memoryBytes, gpuIds },
    leftover: freeGpus * 1e9 + node.freeCpu - cpuMillis,
  }
}

function chooseDevices(shape: Shape, devices: readonly FreeDevice[]): number[] | null {
  if (shape.gpu === 0) return []
  const adequate = devices.filter((device) => device.free && serves(shape, device))
  const named = shape.gpuIds && !shape.anyGpu ? shape.gpuIds : null
  const ordered = named
    ? named.flatMap((id) => adequate.find((device) => device.index === id) ?? [])
    : adequate.toSorted((a, b) => a.memoryGib - b.memoryGib || a.index - b.index)
  return ordered.length < shape.gpu ? null : ordered.slice(0, shape.gpu).map((device) => device.index)
}

function serves(shape: Shape, { model, memoryGib, tensorCores, cuda }: FreeDevice): boolean {
  const [lowest, highest] = cuda
  const version = shape.cudaVersion
  return (
    memoryGib >= (shape.gpuMemoryGib ?? 0) &&
    (tensorCores || !shape.gpuTensorCores) &&
    (!version ||
      !lowest ||
      !highest ||
      (compareVersions(lowest, version) <= 0 && compareVersions(version, highest) <= 0)) &&
    matchesAll(shape.gpuModel, model)
  )
}

/** All filters hold: a part of the name, whatever its case; `!x` means no such part. */
function matchesAll(filters: readonly string[], name: string): boolean {
  const lower = name.toLowerCase()
  return filters.every((filter) =>
    filter.startsWith('!') ? !lower.includes(filter.slice(1).toLowerCase()) : lower.includes(filter.toLowerCase()),
  )
}

/** Dotted integers: 9.10 is above 9.9. */
function compareVersions(a: string, b: string): number {
  const [left, right] = [a.split('.').map(Number), b.split('.').map(Number)]
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const difference = (left[i] ?? 0) - (right[i] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

export function taken(node: FreeNode, { cpuMillis, memoryBytes, gpuIds }: Takes): FreeNode {
  return {
    ...node,
    freeCpu: node.freeCpu - cpuMillis,
    freeMemory: node.freeMemory - memoryBytes,
    devices: node.devices.map((device) => (gpuIds.includes(device.index) ? { ...device, free: false } : device)),
  }
}
