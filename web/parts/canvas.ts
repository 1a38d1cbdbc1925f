export interface Box {
  x: number
  y: number
  width: number
  height: number
}

/** Sizes the canvas in device pixels. */
export function fitCanvas(context: CanvasRenderingContext2D, width: number, height: number): void {
  const { canvas } = context
  canvas.width = Math.round(width * devicePixelRatio)
  canvas.height = Math.round(height * devicePixelRatio)
  context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0)
}

/** Draws slanted lines, the mark for GPUs that are held or reserved. */
export function drawHatch(context: CanvasRenderingContext2D, { x, y, width, height }: Box, color: string): void {
  const step = 5
  context.save()
  context.beginPath()
  context.rect(x, y, width, height)
  context.clip()
  context.strokeStyle = color
  context.lineWidth = 1.5
  context.beginPath()
  for (let at = x - height; at < x + width; at += step) {
    context.moveTo(at, y + height)
    context.lineTo(at + height, y)
  }
  context.stroke()
  context.strokeRect(x, y, width, height)
  context.restore()
}

/** Draws both diagonals, the mark for a node that is closed for new runs. */
export function drawCross(context: CanvasRenderingContext2D, { x, y, width, height }: Box, color: string): void {
  context.strokeStyle = color
  context.lineWidth = 1.5
  context.beginPath()
  context.moveTo(x + 2, y + 2)
  context.lineTo(x + width - 2, y + height - 2)
  context.moveTo(x + width - 2, y + 2)
  context.lineTo(x + 2, y + height - 2)
  context.stroke()
}
