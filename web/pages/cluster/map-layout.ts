import { formatBytes, formatCount, plural } from '../../parts/format.ts'
import type { MapNode } from './node-changes.ts'

export interface Tile {
  node: MapNode
  x: number
  y: number
}

export interface Group {
  title: string
  /** "61 of 64 in use, 8 nodes". */
  detail: string
  y: number
  /** Number of cells in a line of a tile. */
  perLine: number
  cellSize: number
  tileHeight: number
  tileWidth: number
  tiles: readonly Tile[]
}

export interface MapLayout {
  groups: readonly Group[]
  height: number
}

/** Size of a cell in pixels. Up to `nodesOfLarge` nodes, cells are large enough for job names. */
const [cellSizeMin, cellSizeMax, nodesOfLarge] = [16, 30, 128]
export const cellGap = 2
export const nameHeight = 24
export const margin = 16
const headingHeight = 36
const tileGap = 16
const lineGap = 10
const cellsMax = 16
const tileWidthMin = 144

/** Names the GPU models of a node: "a100 80 GiB". */
export function describeModel({ gpus }: MapNode): string {
  const models = new Set(gpus.map(({ model, memoryBytes }) => `${model} ${formatBytes(memoryBytes)}`))
  return models.size === 0 ? 'Without GPUs' : [...models].toSorted().join(' + ')
}

/** Groups nodes by GPU model: nodes with the most GPUs first, nodes without GPUs last. */
function groupNodes(nodes: readonly MapNode[]): readonly (readonly [model: string, nodes: readonly MapNode[]])[] {
  const groups = [...Map.groupBy(nodes, describeModel)]
  const rank = (members: readonly MapNode[]) => members[0]?.gpus.length ?? 0
  return groups.toSorted(([nameA, a], [nameB, b]) => rank(b) - rank(a) || nameA.localeCompare(nameB))
}

/** Computes the position of every node for a width. The cost depends on the number of nodes, not of GPUs. */
export function layOutMap(nodes: readonly MapNode[], width: number): MapLayout {
  let y = 0
  const cellSize = nodes.length > nodesOfLarge ? cellSizeMin : cellSizeMax
  const groups = groupNodes(nodes).map(([title, members]): Group => {
    const gpus = Math.max(...members.map(({ gpus }) => gpus.length))
    const fitting = Math.floor((width - margin * 2) / (cellSize + cellGap))
    const perLine = Math.max(1, Math.min(gpus, cellsMax, fitting))
    const lines = Math.max(1, Math.ceil(gpus / perLine))
    const tileWidth = Math.max(tileWidthMin, perLine * (cellSize + cellGap))
    const tileHeight = nameHeight + lines * (cellSize + cellGap)
    const columns = Math.max(1, Math.floor((width - margin * 2 + tileGap) / (tileWidth + tileGap)))
    const top = y + headingHeight
    const tiles = members.map((node, i) => ({
      node,
      x: margin + (i % columns) * (tileWidth + tileGap),
      y: top + Math.floor(i / columns) * (tileHeight + lineGap),
    }))
    const group = { title, detail: describeGroup(members), y, perLine, cellSize, tileWidth, tileHeight, tiles }
    y = top + Math.ceil(members.length / columns) * (tileHeight + lineGap)
    return group
  })
  return { groups, height: y + margin }
}

function describeGroup(nodes: readonly MapNode[]): string {
  const gpus = nodes.flatMap((node) => node.gpus)
  const used = gpus.filter(({ allocated }) => allocated).length
  const count = plural(nodes.length, 'node')
  return gpus.length === 0 ? count : `${formatCount(used)} of ${formatCount(gpus.length)} in use, ${count}`
}

export interface Spot {
  node: MapNode
  /** The GPU at the point; null: no GPU is there. */
  device: MapNode['gpus'][number] | null
}

/** Finds the node and the GPU at a point of the map. */
export function findSpot({ groups }: MapLayout, x: number, y: number): Spot | null {
  const group = groups.findLast((each) => each.y <= y)
  const tile = group?.tiles.find(
    (each) => x >= each.x && x < each.x + group.tileWidth && y >= each.y && y < each.y + group.tileHeight,
  )
  if (!group || !tile) return null
  const step = group.cellSize + cellGap
  const line = Math.floor((y - tile.y - nameHeight) / step)
  const column = Math.floor((x - tile.x) / step)
  const index = line < 0 || column >= group.perLine ? -1 : line * group.perLine + column
  return { node: tile.node, device: tile.node.gpus[index] ?? null }
}

/** Adjacent cells in a line that one job holds, or a single cell: "GPUs 2 to 5 of the first line". */
export interface Block {
  line: number
  column: number
  count: number
  device: MapNode['gpus'][number]
}

/** Splits the cells of a node into blocks. */
export function listBlocks({ gpus }: Pick<MapNode, 'gpus'>, perLine: number): Block[] {
  const blocks: Block[] = []
  for (const [i, device] of gpus.entries()) {
    const [line, column] = [Math.floor(i / perLine), i % perLine]
    const last = blocks.at(-1)
    const isSame = device.job && last?.line === line && last.device.job?.id === device.job.id
    if (isSame) last.count++
    else blocks.push({ line, column, count: 1, device })
  }
  return blocks
}
