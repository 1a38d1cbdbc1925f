import { Document, visit } from 'yaml'
import type {
  ChangedJobFragment,
  JobEventRowFragment,
  JobRowFragment,
  JobState,
  LiveJobFragment,
  QuotaRowFragment,
} from '../../client/generated/graphql.ts'
import {
  applyStyle,
  measureWidth,
  padText,
  type Style,
  sanitizeText,
  shortenText,
  type Terminal,
  unprintable,
} from '../frame/terminal.ts'
import { nowMs } from '../reading/times.ts'

export interface Column<Row> {
  title: string
  cell: (row: Row) => string
  style?: (row: Row) => Style
  /** true: cells are shortened if the terminal is too narrow. */
  shrinks?: boolean
  /** Columns with the lowest number are dropped first if the terminal is too narrow; undefined: never dropped by rank. */
  drop?: number
  /** true: shown only in the format `wide`. */
  wide?: boolean
}

/** Formats a value for programs, with escaped control characters. In `jsonl` each element of a list is a line. */
export function formatStructured(value: unknown, format: 'json' | 'jsonl' | 'yaml'): string {
  const text = format === 'yaml' ? yamlOf(value) : jsonOf(value, format)
  return text.replace(unprintable, (character) => (character === '\n' ? character : escaped(character)))
}

function jsonOf(value: unknown, format: 'json' | 'jsonl'): string {
  if (format === 'json') return `${JSON.stringify(value, null, 2)}\n`
  return (Array.isArray(value) ? value : [value]).map((each) => `${JSON.stringify(each)}\n`).join('')
}

const escaped = (character: string) =>
  character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')

/** Double-quotes some texts, because other YAML texts can neither have escapes nor keep a line of spaces. */
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

/** "11.27 GiB", or MiB for small amounts. */
export function formatMemory(bytes: number): string {
  const gib = bytes / 2 ** 30
  return gib < 0.1 ? `${+(gib * 1_024).toFixed(2)} MiB` : `${+gib.toFixed(2)} GiB`
}

/** "EUR 4.2", "EUR 0.0017"; without a currency the amount alone. */
export const formatMoney = ({ amount, currency }: { amount: number; currency: string | null }): string =>
  `${currency ?? ''} ${+amount.toFixed(Math.abs(amount) < 1 ? 4 : 2)}`.trim()

export const countJobs = (count: number): string => (count === 1 ? '1 job' : `${count} jobs`)

const gap = '  '

export function table<Row>(terminal: Terminal, rows: readonly Row[], columns: readonly Column<Row>[]): string {
  const fitted = fitColumns(rows, columns, terminal.columns)
  const pad = ({ width, column }: Fitted<Row>, text: string) => {
    const cut = column.shrinks ? shortenText(text, width) : text
    return column === fitted.at(-1)?.column ? cut : padText(cut, width)
  }
  const head = fitted.map((each) => applyStyle(terminal, 'bold', pad(each, each.column.title))).join(gap)
  const body = rows.map((row, r) =>
    fitted
      .map((each) => {
        const text = pad(each, each.cells[r] ?? '')
        return each.column.style ? applyStyle(terminal, each.column.style(row), text) : text
      })
      .join(gap),
  )
  return [head, ...body].map((line) => `${line.trimEnd()}\n`).join('')
}

interface Fitted<Row> {
  column: Column<Row>
  cells: readonly string[]
  width: number
}

/** Columns are dropped before another column becomes narrower than this. */
const readableWidth = 20
const shrunkMin = 8

/**
 * Makes columns fit: shortens cells, drops columns by `drop`, shortens more, and then drops columns from the right. Ids and
 * states are never shortened.
 */
function fitColumns<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  available: number,
): readonly Fitted<Row>[] {
  let kept = columns.map((column) => {
    const cells = rows.map((row) => sanitizeText(column.cell(row)))
    return { column, cells, width: Math.max(column.title.length, ...cells.map(measureWidth)) }
  })
  for (;;) {
    const shrunk = shrink(kept, available, readableWidth)
    const [next] = kept.filter(({ column }) => column.drop !== undefined).sort(byDrop)
    if (!next || excessOf(shrunk, available) <= 0) return dropLast(shrunk, available)
    kept = kept.filter((each) => each !== next)
  }
}

function dropLast<Row>(columns: readonly Fitted<Row>[], available: number): readonly Fitted<Row>[] {
  const shrunk = shrink(columns, available, shrunkMin)
  if (columns.length === 1 || excessOf(shrunk, available) <= 0) return shrunk
  return dropLast(columns.slice(0, -1), available)
}

const byDrop = <Row>(one: Fitted<Row>, other: Fitted<Row>) => (one.column.drop ?? 0) - (other.column.drop ?? 0)

const excessOf = (columns: readonly { width: number }[], available: number): number =>
  columns.reduce((sum, { width }) => sum + width, gap.length * (columns.length - 1)) - available

function shrink<Row>(columns: readonly Fitted<Row>[], available: number, least: number): readonly Fitted<Row>[] {
  let excess = excessOf(columns, available)
  return columns.map((each) => {
    const width = each.column.shrinks
      ? Math.min(each.width, Math.max(least, each.width - Math.max(0, excess)))
      : each.width
    excess -= each.width - width
    return { ...each, width }
  })
}

export function formatSheet(
  terminal: Terminal,
  entries: readonly (readonly [string, string | null | undefined])[],
): string {
  const present = entries.filter((entry): entry is [string, string] => Boolean(entry[1]))
  const width = Math.max(0, ...present.map(([key]) => key.length))
  return present
    .map(([key, value]) => `${applyStyle(terminal, 'bold', padText(key, width))}${gap}${sanitizeText(value)}\n`)
    .join('')
}

export const jobColumns: readonly Column<JobRowFragment>[] = [
  { title: 'ID', cell: (job) => job.id },
  { title: 'NAME', cell: (job) => job.name ?? '-', shrinks: true },
  { title: 'STATE', cell: formatState, style: (job) => stateStyles[job.state] },
  { title: 'USER', cell: (job) => job.user.name, drop: 4 },
  { title: 'QUEUE', cell: (job) => job.queue.name, drop: 1 },
  { title: 'CREATED', cell: (job) => formatTime(job.createdAt) ?? '-', drop: 3 },
  { title: 'RAN', cell: (job) => durationText(job) ?? '-', drop: 2 },
]

/** Columns for jobs that a command has changed. */
export const changedJobColumns: readonly Column<ChangedJobFragment>[] = [
  { title: 'ID', cell: ({ id }) => id },
  { title: 'NAME', cell: ({ name }) => name ?? '-', shrinks: true },
  { title: 'STATE', cell: formatState, style: ({ state }) => stateStyles[state] },
  { title: 'USER', cell: ({ user }) => user.name, drop: 1 },
]

export const liveJobColumns: readonly Column<LiveJobFragment>[] = [
  ...jobColumns,
  { title: 'POOL', cell: ({ pool }) => pool.name, wide: true },
  { title: 'EXECUTOR', cell: ({ executor }) => executor, wide: true },
  { title: 'ACCOUNT', cell: ({ account }) => account, wide: true },
  { title: 'PROJECT', cell: ({ project }) => project ?? '-', wide: true },
  { title: 'PRIORITY', cell: ({ priority }) => (priority === null ? '-' : String(priority)), wide: true },
  { title: 'STARTED', cell: ({ startedAt }) => formatTime(startedAt) ?? '-', wide: true },
  { title: 'FINISHED', cell: ({ finishedAt }) => formatTime(finishedAt) ?? '-', wide: true },
  { title: 'LABELS', cell: ({ labels }) => formatLabels(labels) || '-', wide: true },
]

/** "user:ann", "global". */
export const formatScope = ({ kind, name }: QuotaRowFragment['scope']): string =>
  [kind.toLowerCase(), ...(name === null ? [] : [name])].join(':')

export const formatLabels = (labels: LiveJobFragment['labels']): string =>
  labels.map(({ key, value }) => (value === '' ? key : `${key}=${value}`)).join(' ')

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
export function formatState({
  state,
  stateReason,
  exitCode,
}: Pick<JobRowFragment, 'state' | 'stateReason' | 'exitCode'>): string {
  const why = [stateReason === state ? null : stateReason, exitCode || null].filter((part) => part !== null)
  return why.length > 0 ? `${state} (${why.join(' ')})` : state
}

/** `2026-11-21 04:05:06` in the local time zone. */
export function formatTime(time: string | null): string | null {
  return time === null ? null : new Date(time).toLocaleString('sv-SE')
}

/** Describes when a waiting job starts: the forecast and its bounds, or the bounds alone. */
export function formatStart(start: Start | null | undefined): string | null {
  if (!start) return null
  if (start.earliest === null) return start.message
  const bounds = `from ${formatTime(start.earliest)}${start.latest === null ? '' : ` to ${formatTime(start.latest)}`}`
  const likely = formatLikelyStart(start)
  return likely === null || start.earliest === start.latest ? bounds : `${likely} (${bounds})`
}

/** Formats the forecast without its bounds; null: no forecast. */
export function formatLikelyStart({ p50, p90 }: Pick<Start, 'p50' | 'p90'>): string | null {
  if (p50 === null) return null
  return `about ${formatTime(p50)}${p90 === null || p90 === p50 ? '' : `, in 9 of 10 cases by ${formatTime(p90)}`}`
}

interface Start {
  p50: string | null
  p90: string | null
  /** The earliest start; null: unknown, and `message` says why. */
  earliest: string | null
  latest: string | null
  message: string
}

/** Formats the run time, so far if the job is running. */
function durationText({ state, startedAt, finishedAt }: JobRowFragment): string | null {
  const isRunning = state === 'RUNNING' || state === 'CANCELLING'
  if (startedAt === null || (finishedAt === null && !isRunning)) return null
  const end = finishedAt === null ? nowMs() : Date.parse(finishedAt)
  return formatDuration(Math.max(0, end - Date.parse(startedAt)) / 1_000)
}

export function formatDuration(seconds: number): string {
  if (seconds < 60) return `${seconds.toFixed(1)} s`
  const minutes = Math.floor(seconds / 60)
  return minutes < 60
    ? `${minutes} min ${Math.floor(seconds % 60)} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** `#3 04:05:06 QUEUED → STARTING` */
export function formatEvent(event: JobEventRowFragment): string {
  const move = event.to ? (event.from ? `${event.from} → ${event.to}` : event.to) : event.type
  const why = [event.stateReason, event.exitCode || null, event.message].filter((part) => part !== null)
  return sanitizeText(`#${event.seq} ${formatTime(event.at)} ${[move, ...why].join(' · ')}`)
}
