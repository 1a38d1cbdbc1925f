import { Document, visit } from 'yaml'
import type { JobEventRowFragment, JobRowFragment, JobState } from '../client/generated/graphql.ts'
import {
  measureWidth,
  padded,
  printable,
  type Style,
  shortened,
  styled,
  type Terminal,
  unprintable,
} from './terminal.ts'

export const formats = ['table', 'json', 'yaml'] as const
export type Format = (typeof formats)[number]

export interface Column<Row> {
  title: string
  cell: (row: Row) => string
  style?: (row: Row) => Style
  /** Texts are cut if the terminal is too narrow for the table. */
  shrinks?: boolean
}

/** The exact value; control characters are escaped. */
export function structured(value: unknown, format: Exclude<Format, 'table'>): string {
  const text = format === 'json' ? `${JSON.stringify(value, null, 2)}\n` : yamlOf(value)
  return text.replace(unprintable, (character) => (character === '\n' ? character : escaped(character)))
}

const escaped = (character: string) =>
  character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')

/** YAML has escapes only in double-quoted texts, and only these keep a line of spaces. */
function yamlOf(value: unknown): string {
  const document = new Document(value)
  visit(document, {
    Scalar(_key, node) {
      if (typeof node.value !== 'string') return
      if (node.value.replaceAll('\n', '').search(unprintable) >= 0 || /^[ \t]+$/m.test(node.value))
        node.type = 'QUOTE_DOUBLE'
    },
  })
  return document.toString({ doubleQuotedAsJSON: true })
}

export const memoryText = (bytes: number): string => `${+(bytes / 2 ** 30).toFixed(2)} GiB`

const gap = '  '
const shrunkMin = 20

export function table<Row>(terminal: Terminal, rows: readonly Row[], columns: readonly Column<Row>[]): string {
  const cells = rows.map((row) => columns.map(({ cell }) => printable(cell(row))))
  const widths = columns.map(({ title }, i) =>
    cells.reduce((widest, line) => Math.max(widest, measureWidth(line[i] ?? '')), title.length),
  )
  let excess = widths.reduce((sum, width) => sum + width, gap.length * (widths.length - 1)) - terminal.columns
  for (const [i, { shrinks }] of columns.entries()) {
    const width = widths[i] ?? 0
    if (!shrinks || excess <= 0 || width <= shrunkMin) continue
    widths[i] = Math.max(shrunkMin, width - excess)
    excess -= width - widths[i]
  }
  const pad = (text: string, i: number) => {
    const width = widths[i] ?? 0
    const cut = columns[i]?.shrinks ? shortened(text, width) : text
    return i === columns.length - 1 ? cut : padded(cut, width)
  }
  const head = columns.map(({ title }, i) => styled(terminal, 'bold', pad(title, i))).join(gap)
  const body = rows.map((row, r) =>
    columns
      .map(({ style }, i) => {
        const text = pad(cells[r]?.[i] ?? '', i)
        return style ? styled(terminal, style(row), text) : text
      })
      .join(gap),
  )
  return [head, ...body].map((line) => `${line.trimEnd()}\n`).join('')
}

export function sheet(terminal: Terminal, entries: readonly (readonly [string, string | null | undefined])[]): string {
  const present = entries.filter((entry): entry is [string, string] => Boolean(entry[1]))
  const width = Math.max(0, ...present.map(([key]) => key.length))
  return present
    .map(([key, value]) => `${styled(terminal, 'bold', padded(key, width))}${gap}${printable(value)}\n`)
    .join('')
}

export const jobColumns: readonly Column<JobRowFragment>[] = [
  { title: 'ID', cell: (job) => job.id },
  { title: 'NAME', cell: (job) => job.name ?? '-', shrinks: true },
  { title: 'STATE', cell: stateText, style: (job) => stateStyles[job.state] },
  { title: 'USER', cell: (job) => job.user.name },
  { title: 'QUEUE', cell: (job) => job.queue.name },
  { title: 'CREATED', cell: (job) => timeText(job.createdAt) ?? '-' },
  { title: 'RAN', cell: (job) => durationText(job) ?? '-' },
]

export const stateStyles = {
  BLOCKED: 'magenta',
  QUEUED: 'yellow',
  STARTING: 'cyan',
  RUNNING: 'cyan',
  CANCELLING: 'yellow',
  SUCCEEDED: 'green',
  FAILED: 'red',
  INTERRUPTED: 'red',
  CANCELLED: 'gray',
} as const satisfies Record<JobState, Style>

/** `FAILED (EXIT_CODE 3)` */
export function stateText({ state, stateReason, exitCode }: JobRowFragment): string {
  const why = [stateReason === state ? null : stateReason, exitCode || null].filter((part) => part !== null)
  return why.length > 0 ? `${state} (${why.join(' ')})` : state
}

/** `2026-11-21 04:05:06` in the reader's time zone. */
export function timeText(time: string | null): string | null {
  return time === null ? null : new Date(time).toLocaleString('sv-SE')
}

/** When a waiting job starts: the forecast and its bounds, or the bounds alone. */
export function startText(start: Start | null | undefined): string | null {
  if (!start) return null
  const bounds = `from ${timeText(start.earliest)}${start.latest === null ? '' : ` to ${timeText(start.latest)}`}`
  const likely = likelyStart(start)
  return likely === null || start.earliest === start.latest ? bounds : `${likely} (${bounds})`
}

/** The forecast without its bounds; null: no forecast. */
export function likelyStart({ p50, p90 }: Pick<Start, 'p50' | 'p90'>): string | null {
  if (p50 === null) return null
  return `about ${timeText(p50)}${p90 === null || p90 === p50 ? '' : `, in 9 of 10 cases by ${timeText(p90)}`}`
}

interface Start {
  p50: string | null
  p90: string | null
  earliest: string
  latest: string | null
}

function durationText({ startedAt, finishedAt }: JobRowFragment): string | null {
  if (startedAt === null || finishedAt === null) return null
  return secondsText((Date.parse(finishedAt) - Date.parse(startedAt)) / 1_000)
}

export function secondsText(seconds: number): string {
  if (seconds < 60) return `${seconds.toFixed(1)} s`
  const minutes = Math.floor(seconds / 60)
  return minutes < 60
    ? `${minutes} min ${Math.floor(seconds % 60)} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** `#3 04:05:06 QUEUED → STARTING` */
export function eventText(event: JobEventRowFragment): string {
  const move = event.to ? (event.from ? `${event.from} → ${event.to}` : event.to) : event.type
  const why = [event.reason, event.exitCode || null, event.message].filter((part) => part !== null)
  return printable(`#${event.seq} ${timeText(event.at)} ${[move, ...why].join(' · ')}`)
}
