import { type Box, drawCross, drawHatch } from '../../parts/canvas.ts'
import { nameJob } from '../../parts/server-text.ts'
import type { CellColors } from './cell-colors.ts'
import { cellGap, type Group, listBlocks, type MapLayout, margin, nameHeight, type Tile } from './map-layout.ts'
import type { MapNode } from './node-changes.ts'
import { type Claims, type Condition, findCondition, isClosed } from './node-condition.ts'

export interface MapView {
  layout: MapLayout
  width: number
  height: number
  scrollTop: number
  paints: CellColors
  claims: Claims
  /** true: the node does not match the search, and is drawn faintly. */
  isFaint: (node: MapNode) => boolean
  openId: string | undefined
}

/** Resolved colours by their names or CSS expressions. */
export type MapColors = Readonly<Record<string, string>>

export function drawMap(context: CanvasRenderingContext2D, view: MapView, colors: MapColors): void {
  const { layout, width, height, scrollTop } = view
  context.clearRect(0, 0, width, height)
  context.textBaseline = 'middle'
  for (const group of layout.groups) {
    drawHeading(context, group, scrollTop, colors)
    for (const tile of group.tiles) {
      const y = tile.y - scrollTop
      if (y + group.tileHeight < 0 || y > height) continue
      context.globalAlpha = view.isFaint(tile.node) ? 0.25 : 1
      drawTile(context, tile, { group, y, view, colors })
    }
    context.globalAlpha = 1
  }
}

function drawHeading(
  context: CanvasRenderingContext2D,
  { title, detail, y }: Group,
  scrollTop: number,
  colors: MapColors,
) {
  const middle = y - scrollTop + 18
  context.font = '550 13px Inter, system-ui, sans-serif'
  context.fillStyle = colors['ink'] ?? ''
  context.fillText(title, margin, middle)
  const { width } = context.measureText(title)
  context.font = '12px Inter, system-ui, sans-serif'
  context.fillStyle = colors['faint'] ?? ''
  context.fillText(detail, margin + width + 12, middle)
}

interface TileContext {
  group: Group
  y: number
  view: MapView
  colors: MapColors
}

function drawTile(context: CanvasRenderingContext2D, { node, x }: Tile, { group, y, view, colors }: TileContext) {
  const condition = findCondition(node, view.claims)
  if (node.id === view.openId) {
    context.fillStyle = colors['selected'] ?? ''
    context.fillRect(x - 6, y - 3, group.tileWidth + 8, group.tileHeight + 8)
  }
  const box = { x, y, width: group.tileWidth, height: nameHeight }
  drawName(context, node.name, condition, { box, colors })
  const top = y + nameHeight
  if (node.gpus.length === 0)
    return drawBars(context, node, { box: { ...box, y: top, height: group.cellSize }, condition, colors })
  const step = group.cellSize + cellGap
  for (const { line, column, count, device } of listBlocks(node, group.perLine)) {
    const block = { x: x + column * step, y: top + line * step, width: count * step - cellGap, height: group.cellSize }
    const paint = view.paints.paint(device)
    const color = paint && (colors[paint.color] ?? '')
    if (color !== null) {
      context.fillStyle = color
      context.fillRect(block.x, block.y, block.width, block.height)
    }
    outline(context, block, colors[paint ? 'outline' : 'empty'] ?? '')
    drawCondition(context, block, condition, { isUsed: paint !== null, colors })
    if (color !== null) drawJobName(context, block, { color, name: device.job ? nameJob(device.job) : '', colors })
  }
}

function outline(context: CanvasRenderingContext2D, { x, y, width, height }: Box, color: string) {
  context.strokeStyle = color
  context.lineWidth = 1
  context.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1)
}

const textPadding = 5
/** Minimum width of a name. A shorter one would be cut to uselessness. */
const textWidthMin = 44

/** Draws the name of a job on its cells if it fits. */
function drawJobName(
  context: CanvasRenderingContext2D,
  { x, y, width, height }: Box,
  { color, name, colors }: { color: string; name: string; colors: MapColors },
) {
  const room = width - textPadding * 2
  context.font = '550 11px Inter, system-ui, sans-serif'
  if (name === '' || height < nameHeight || (room < textWidthMin && context.measureText(name).width > room)) return
  const text = cut(context, name, room)
  // Fills the background first, so that marks on the cells do not cross the name.
  context.fillStyle = color
  context.fillRect(x + 2, y + 6, context.measureText(text).width + textPadding + 2, height - 12)
  context.fillStyle = colors['surface'] ?? ''
  context.fillText(text, x + textPadding, y + height / 2 + 0.5)
}

interface NameContext {
  box: Box
  colors: MapColors
}

/** Draws the name of the node at the left, and its condition at the right. */
function drawName(
  context: CanvasRenderingContext2D,
  name: string,
  condition: Condition | null,
  { box: { x, y, width, height }, colors }: NameContext,
) {
  context.font = '11px Inter, system-ui, sans-serif'
  const wordWidth = condition === null ? 0 : context.measureText(condition).width + 8
  context.fillStyle = colors['ink'] ?? ''
  context.fillText(cut(context, name, width - wordWidth), x, y + height / 2)
  if (condition === null) return
  context.fillStyle = colors[isClosed(condition) ? 'warning' : 'faint'] ?? ''
  context.fillText(condition, x + width - wordWidth + 6, y + height / 2)
}

function drawCondition(
  context: CanvasRenderingContext2D,
  box: Box,
  condition: Condition | null,
  { isUsed, colors }: { isUsed: boolean; colors: MapColors },
) {
  if (condition === null) return
  if (isClosed(condition)) drawCross(context, box, colors[isUsed ? 'surface' : 'warning'] ?? '')
  else drawHatch(context, box, colors[isUsed ? 'surface' : 'faint'] ?? '')
}

/** Draws the used fractions: cores above, memory below. */
function drawBars(
  context: CanvasRenderingContext2D,
  { capacity, free }: MapNode,
  { box, condition, colors }: { box: Box; condition: Condition | null; colors: MapColors },
) {
  const width = box.width - cellGap
  const height = box.height / 2 - 1
  const parts = [
    [capacity.cpu, free.cpu],
    [capacity.memoryBytes, free.memoryBytes],
  ] as const
  for (const [i, [all, left]] of parts.entries()) {
    const y = box.y + i * (height + 2)
    context.fillStyle = colors['free'] ?? ''
    context.fillRect(box.x, y, width, height)
    context.fillStyle = colors['var(--state-running)'] ?? ''
    context.fillRect(box.x, y, all > 0 ? width * Math.min(1, (all - left) / all) : 0, height)
  }
  drawCondition(context, { ...box, width }, condition, { isUsed: false, colors })
}

function cut(context: CanvasRenderingContext2D, text: string, width: number): string {
  const { width: whole } = context.measureText(text)
  if (whole <= width) return text
  const count = Math.max(1, Math.floor((text.length * width) / whole) - 1)
  return `${text.slice(0, count)}…`
}
