import { GiB, matchesAll, type Shape } from '../shape.ts'
import { computeDefaultMemory } from './default-memory.ts'

/** Constant properties of the nodes of a pool, computed once per shape and kind of machine. */

export interface FreeNode {
  id: string
  name: string
  state: 'READY' | 'CORDONED' | 'DRAINING' | 'LOST'
  /** Set while starts on the node fail; null: the last start succeeded. */
  backOff: BackOff | null
  cpuMillis: number
  memoryBytes: number
  freeCpu: number
  freeMemory: number
  cpuModel: string | null
  infiniband: boolean
  infinibandFree: boolean
  gpuJobsOnly: boolean
  interactive: number
  devices: readonly FreeDevice[]
  /** Amounts used outside Berth, on nodes that a backend chooses; null: Berth chooses the nodes. */
  others: Others | null
}

export interface Others {
  cpuMillis: number
  memoryBytes: number
  /** Device indexes. Only the number of them is meaningful. */
  gpus: readonly number[]
}

/** No run is placed on the node before `untilMs`. Then one run at a time is tried until a start succeeds. */
export interface BackOff {
  untilMs: number
  because: string
  isOver: boolean
  /** Number of runs that were placed after `untilMs` and hold resources. */
  probes: number
}

export interface FreeDevice {
  index: number
  model: string
  memoryGib: number
  tensorCores: boolean
  /** Lowest and highest CUDA version; empty: any. */
  cuda: readonly string[]
  free: boolean
}

type Openness = Pick<FreeNode, 'state' | 'backOff'>

export const takesRuns = (node: Openness): boolean => isOpen(node) && (node.backOff?.probes ?? 0) === 0

/** true: the node takes runs now, or as soon as the run that probes it has started. */
export const isOpen = ({ state, backOff }: Openness): boolean => state === 'READY' && backOff?.isOver !== false

/** Machines that differ only in name, cores and memory. */
interface Kind {
  example: FreeNode
  /** Strength of each device as a rank within the pool; 0 is the weakest. */
  strengths: readonly number[]
}

/** The positions of the devices of a kind that satisfy a shape, in the order in which they are assigned. */
export interface Suit {
  positions: readonly number[]
  strengths: readonly number[]
}

interface Machines {
  nodes: readonly FreeNode[]
  /** The suitable devices of each node; null: the node can never satisfy the shape. */
  suits(shape: Shape): readonly (Suit | null)[]
  indexOf(nodeId: string): number | undefined
  /** Returns the nodes as if they had no runs; of equal nodes, at most `copies`. */
  emptyFor(copies: number): readonly FreeNode[]
  /** The result of `search` on empty machines, cached by shape. */
  ever(shape: Shape, search: (empty: readonly FreeNode[]) => boolean): boolean
  /** Memory in bytes for a copy that requests none; null: no machine satisfies the shape. */
  memoryShare(shape: Shape): number | null
}

const known = new WeakMap<readonly FreeNode[], { given: readonly FreeNode[]; machines: Machines }>()

export function indexMachines(nodes: readonly FreeNode[]): Machines {
  const before = known.get(nodes)
  if (before && isSame(before.given, nodes)) return before.machines
  const machines = buildMachines(nodes)
  known.set(nodes, { given: [...nodes], machines })
  return machines
}

function isSame(before: readonly FreeNode[], now: readonly FreeNode[]): boolean {
  if (before.length !== now.length) return false
  for (let i = 0; i < now.length; i++) if (before[i] !== now[i]) return false
  return true
}

function buildMachines(given: readonly FreeNode[]): Machines {
  const nodes = given.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const rank = ranksOf(nodes)
  const kinds = new Map<string, Kind>()
  const kindOf = nodes.map((node) => {
    const key = JSON.stringify([
      node.cpuModel,
      node.infiniband,
      node.gpuJobsOnly,
      node.devices.map((d) => [d.index, d.model, toStrengthKey(d)]),
    ])
    const kind = kinds.get(key) ?? {
      example: node,
      strengths: node.devices.map((d) => rank.get(toStrengthKey(d)) ?? 0),
    }
    kinds.set(key, kind)
    return kind
  })
  const indexes = new Map(nodes.map(({ id }, at) => [id, at]))
  const suits = memoizeByShape<readonly (Suit | null)[]>(devicesText)
  const findSuits = (shape: Shape) => {
    const ofKind = new Map([...kinds.values()].map((kind) => [kind, findSuit(shape, kind)]))
    return kindOf.map((kind) => ofKind.get(kind) ?? null)
  }
  const emptyFor = createEmptyNodes(nodes, kindOf)
  const shares = memoizeByShape<number | null>(JSON.stringify)
  const verdicts = memoizeByShape<boolean>(JSON.stringify)
  return {
    nodes,
    suits: (shape) => suits(shape, findSuits),
    indexOf: (nodeId) => indexes.get(nodeId),
    emptyFor,
    ever: (shape, search) => verdicts(shape, () => search(emptyFor(shape.copies))),
    memoryShare: (shape) =>
      shares(shape, () => {
        const suited = suits(shape, findSuits)
        return computeDefaultMemory(
          shape,
          nodes.filter((node, at) => suited[at] != null && node.cpuMillis >= shape.cpuMillis),
        )
      }),
  }
}

function createEmptyNodes(nodes: readonly FreeNode[], kindOf: readonly Kind[]): Machines['emptyFor'] {
  const numbers = new Map([...new Set(kindOf)].map((kind, number) => [kind, number]))
  const sizeOf = ({ cpuMillis, memoryBytes }: FreeNode, kind: Kind | undefined) =>
    [kind && numbers.get(kind), cpuMillis, memoryBytes].join('/')
  const placed = nodes.map((node, at) => ({ node, size: sizeOf(node, kindOf[at]) }))
  const alike = [...Map.groupBy(placed, ({ size }) => size).values()]
  const few = (copies: number) => alike.flatMap((same) => same.slice(0, copies).map(({ node }) => node))
  const byCopies = new Map<number, readonly FreeNode[]>()
  return (copies) => {
    const known = byCopies.get(copies) ?? few(copies).map(clearNode)
    byCopies.set(copies, known)
    return known
  }
}

const memoizedMax = 20_000

function memoizeByShape<T>(textOf: (shape: Shape) => string): (shape: Shape, find: (shape: Shape) => T) => T {
  const byShape = new WeakMap<Shape, { found: T }>()
  const byText = new Map<string, { found: T }>()
  return (shape, find) => {
    const known = byShape.get(shape)
    if (known) return known.found
    const text = textOf(shape)
    const entry = byText.get(text) ?? { found: find(shape) }
    if (byText.size === memoizedMax) byText.clear()
    byText.set(text, entry)
    byShape.set(shape, entry)
    return entry.found
  }
}

/** The fields of a shape that decide which devices satisfy it. */
const devicesText = (shape: Shape): string =>
  JSON.stringify([
    shape.gpu,
    shape.infiniband,
    shape.cpuModel,
    shape.gpuModel,
    shape.gpuMemoryBytes,
    shape.gpuTensorCores,
    shape.cudaVersion,
    shape.gpuIds,
    shape.anyGpu,
  ])

/** Returns the node without runs of Berth and without use outside Berth. */
const clearNode = (node: FreeNode): FreeNode => ({
  ...clearRuns({ ...node, others: node.others && { cpuMillis: 0, memoryBytes: 0, gpus: [] } }),
  state: 'READY',
  backOff: null,
})

export const clearRuns = (node: FreeNode): FreeNode => ({
  ...node,
  backOff: node.backOff && { ...node.backOff, probes: 0 },
  freeCpu: node.cpuMillis - (node.others?.cpuMillis ?? 0),
  freeMemory: node.memoryBytes - (node.others?.memoryBytes ?? 0),
  infinibandFree: node.infiniband,
  interactive: 0,
  devices: node.devices.map((device) => ({ ...device, free: !node.others?.gpus.includes(device.index) })),
})

/**
 * Orders devices by memory, then tensor cores, then the highest CUDA version. Returned as text, so that equal devices
 * compare as equal.
 */
const toStrengthKey = ({ memoryGib, tensorCores, cuda }: FreeDevice) => JSON.stringify([memoryGib, tensorCores, cuda])

function ranksOf(nodes: readonly FreeNode[]): Map<string, number> {
  const devices = new Map(nodes.flatMap((node) => node.devices.map((device) => [toStrengthKey(device), device])))
  const ranks = new Map<string, number>()
  let rank = -1
  let before: FreeDevice | null = null
  for (const [key, device] of [...devices].toSorted(([, a], [, b]) => compareStrength(a, b))) {
    if (!before || compareStrength(before, device) !== 0) rank++
    ranks.set(key, rank)
    before = device
  }
  return ranks
}

const compareStrength = (a: FreeDevice, b: FreeDevice): number =>
  a.memoryGib - b.memoryGib || Number(a.tensorCores) - Number(b.tensorCores) || compareHighest(a.cuda[1], b.cuda[1])

function compareHighest(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined)
  return compareVersions(a, b)
}

/** Compares dotted integers: 9.10 is above 9.9. */
function compareVersions(a: string, b: string): number {
  const [left, right] = [a.split('.').map(Number), b.split('.').map(Number)]
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const difference = (left[i] ?? 0) - (right[i] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

function findSuit(shape: Shape, { example, strengths }: Kind): Suit | null {
  const admitted = findAdmittedDevices(shape, example)
  if (admitted === null || admitted.length < shape.gpu) return null
  const positions = namesDevices(shape)
    ? admitted
    : admitted.toSorted((a, b) => (strengths[a] ?? 0) - (strengths[b] ?? 0) || a - b)
  return { positions, strengths }
}

export interface Hardware extends Pick<FreeNode, 'cpuModel' | 'infiniband' | 'gpuJobsOnly'> {
  devices: readonly Omit<FreeDevice, 'free'>[]
}

/**
 * Returns positions of devices that match the filters, in the order of the names in the filters; null: the machine
 * does not match.
 */
function findAdmittedDevices(shape: Shape, machine: Hardware): number[] | null {
  const { cpuModel, infiniband, devices } = machine
  if (!mayRunOnKind(shape, machine) || (shape.infiniband && !infiniband) || !matchesAll(shape.cpuModel, cpuModel ?? ''))
    return null
  if (shape.gpu === 0) return []
  const serving = devices.flatMap((device, at) => (serves(shape, device) ? [at] : []))
  if (!namesDevices(shape)) return serving
  return (shape.gpuIds ?? []).flatMap((id) => serving.find((at) => devices[at]?.index === id) ?? [])
}

export const mayRunOnKind = ({ gpu }: Pick<Shape, 'gpu'>, { gpuJobsOnly }: Pick<Hardware, 'gpuJobsOnly'>): boolean =>
  gpu > 0 || !gpuJobsOnly

/** Lists the CPU models of machines on which a shape may be placed, and the models of GPUs that it may get there. */
export function listModelsFor(shape: Shape, machines: readonly Hardware[]): string[] {
  const models = machines.flatMap((machine) => {
    const admitted = findAdmittedDevices(shape, machine)
    const lacksGpus = shape.gpu > 0 && admitted?.length === 0
    if (admitted === null || lacksGpus) return []
    const devices = shape.exclusive ? machine.devices : admitted.map((at) => machine.devices[at])
    return [machine.cpuModel ?? [], devices.map((device) => device?.model ?? [])].flat(2)
  })
  return [...new Set(models)]
}

export const namesDevices = ({ gpuIds, anyGpu }: Shape): boolean => gpuIds !== null && !anyGpu

export function serves(
  shape: Shape,
  { model, memoryGib, tensorCores, cuda }: Omit<FreeDevice, 'free' | 'index'>,
): boolean {
  return (
    memoryGib * GiB >= (shape.gpuMemoryBytes ?? 0) &&
    (tensorCores || !shape.gpuTensorCores) &&
    runsVersion(cuda, shape.cudaVersion) &&
    matchesAll(shape.gpuModel, model)
  )
}

function runsVersion([lowest, highest]: readonly string[], version: string | null): boolean {
  if (!version || !lowest || !highest) return true
  return compareVersions(lowest, version) <= 0 && compareVersions(version, highest) <= 0
}
