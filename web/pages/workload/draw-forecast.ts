import { drawHatch } from '../../parts/canvas.ts'
import type { Bar, ForecastRow } from './forecast-bars.ts'

export interface ForecastColors {
  ink: string
  faint: string
  line: string
  surface: string
  hover: string
  RUNNING: string
  QUEUED: string
  BLOCKED: string
  hold: string
}

export interface ForecastView {
  rows: readonly ForecastRow[]
  width: number
  height: number
  /** Scroll position in pixels. */
  scrollTop: number
  nowMs: number
  spanMs: number
  /** Width of the column with the names. */
  nameWidth: number
  hovered: number | null
}

export const rowHeight = 24
export const headHeight = 24
const barHeight = 12
/** Fraction of the width for the time before now, so that running jobs are visible as already started. */
const pastFraction = 0.04

export const xOf = (atMs: number, { width, nameWidth, nowMs, spanMs }: ForecastView): number => {
  const fraction = (atMs - nowMs) / spanMs
  return nameWidth + ((fraction + pastFraction) / (1 + pastFraction)) * (width - nameWidth)
}

export function findRowAt(y: number, { rows, scrollTop }: Pick<ForecastView, 'rows' | 'scrollTop'>): number | null {
  const index = Math.floor((y - headHeight + scrollTop) / rowHeight)
  return y >= headHeight && index >= 0 && index < rows.length ? index : null
}

/** Draws the visible rows only, so that the cost does not depend on the number of jobs. */
export function drawForecast(context: CanvasRenderingContext2D, view: ForecastView, colors: ForecastColors): void {
  const { rows, width, height, scrollTop } = view
  context.clearRect(0, 0, width, height)
  context.font = '12px Inter, system-ui, sans-serif'
  context.textBaseline = 'middle'
  const first = Math.max(0, Math.floor(scrollTop / rowHeight))
  const last = Math.min(rows.length, Math.ceil((scrollTop + height - headHeight) / rowHeight))
  const marks = listMarks(view)
  context.fillStyle = colors.line
  for (const { x } of marks) context.fillRect(Math.round(x), headHeight, 1, height)
  for (let i = first; i < last; i++) {
    const row = rows[i]
    if (row) drawRow(context, row, i, view, colors)
  }
  drawHead(context, marks, view, colors)
}

function drawRow(
  context: CanvasRenderingContext2D,
  row: ForecastRow,
  index: number,
  view: ForecastView,
  colors: ForecastColors,
) {
  const { width, nameWidth, scrollTop, hovered } = view
  const top = headHeight + index * rowHeight - scrollTop
  if (hovered === index) {
    context.fillStyle = colors.hover
    context.fillRect(0, top, width, rowHeight)
  }
  context.save()
  context.beginPath()
  context.rect(nameWidth, top, width - nameWidth, rowHeight)
  context.clip()
  for (const bar of row.bars) drawBar(context, bar, top, view, colorOf(row, bar, colors))
  context.restore()
  context.save()
  context.beginPath()
  context.rect(0, top, nameWidth - 8, rowHeight)
  context.clip()
  context.fillStyle = row.jobId === null ? colors.faint : colors.ink
  context.fillText(row.title, 16, top + rowHeight / 2)
  const { width: titleWidth } = context.measureText(row.title)
  context.fillStyle = colors.faint
  context.fillText(row.who, 16 + titleWidth + 8, top + rowHeight / 2)
  context.restore()
}

function colorOf({ state }: ForecastRow, { kind }: Bar, colors: ForecastColors): string {
  if (kind !== 'JOB') return colors.hold
  if (state === 'QUEUED' || state === 'BLOCKED') return colors[state]
  return colors.RUNNING
}

function drawBar(context: CanvasRenderingContext2D, bar: Bar, top: number, view: ForecastView, color: string) {
  const y = top + (rowHeight - barHeight) / 2
  const from = Math.max(xOf(bar.fromMs, view), view.nameWidth)
  const to = bar.toMs === null ? view.width : Math.min(xOf(bar.toMs, view), view.width)
  const width = Math.max(to - from, 3)
  if (bar.kind === 'JOB') {
    context.fillStyle = bar.toMs === null ? fade(context, color, from, view.width) : color
    context.fillRect(from, y, width, barHeight)
  } else drawHatch(context, { x: from, y, width, height: barHeight }, color)
  if (bar.latestStartMs === null) return
  // Draws a thin line until the latest likely start.
  const latest = Math.min(xOf(bar.latestStartMs, view), view.width)
  context.fillStyle = color
  context.fillRect(from, y + barHeight + 2, latest - from, 2)
}

function fade(context: CanvasRenderingContext2D, color: string, from: number, to: number) {
  const gradient = context.createLinearGradient(from, 0, Math.max(to, from + 1), 0)
  gradient.addColorStop(0, color)
  gradient.addColorStop(1, 'transparent')
  return gradient
}

interface Mark {
  x: number
  text: string
}

const minuteMs = 60_000
const steps = [5, 10, 15, 30, 60, 120, 180, 240, 360, 720].map((minutes) => minutes * minuteMs)
const labelWidth = 88
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })
const weekday = new Intl.DateTimeFormat('en-GB', { weekday: 'short' })

/** Lists round times, in the local time zone, that get a mark. */
export function listMarks(view: ForecastView): readonly Mark[] {
  const { nowMs, spanMs, width, nameWidth } = view
  const stepMs = steps.find((step) => ((width - nameWidth) * step) / spanMs >= labelWidth) ?? spanMs
  const offsetMs = new Date(nowMs).getTimezoneOffset() * minuteMs
  const marks: Mark[] = []
  for (let atMs = Math.ceil((nowMs - offsetMs) / stepMs) * stepMs + offsetMs; atMs < nowMs + spanMs; atMs += stepMs) {
    const text = clock.format(atMs)
    marks.push({ x: xOf(atMs, view), text: text === '00:00' ? `${weekday.format(atMs)} ${text}` : text })
  }
  return marks
}

function drawHead(
  context: CanvasRenderingContext2D,
  marks: readonly Mark[],
  view: ForecastView,
  colors: ForecastColors,
) {
  const { width, height, nowMs } = view
  context.fillStyle = colors.surface
  context.fillRect(0, 0, width, headHeight)
  context.fillStyle = colors.faint
  const nowX = xOf(nowMs, view)
  context.textAlign = 'center'
  for (const { x, text } of marks) if (x - nowX > 48 && x < width - 24) context.fillText(text, x, headHeight / 2)
  context.fillStyle = colors.RUNNING
  context.fillText('now', nowX, headHeight / 2)
  context.fillRect(Math.round(nowX), headHeight, 1, height)
  context.textAlign = 'start'
}
