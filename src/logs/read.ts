import type { Sql } from '../platform/tx.ts'
import { countJsonBytes, cutPassageOfLines, encodeStreams, type LogLine } from './batch.ts'
import { findLastLinesStart } from './last-lines.ts'
import { getFirstLineNumber, type LogStream } from './lines.ts'
import { findPageStart } from './page-start.ts'
import { findFirstLineAt, findLine } from './seek.ts'
import {
  clipChunks,
  findNextOutput,
  findNextRun,
  type Gap,
  isElsewhere,
  isLogOver,
  type LogCursor,
  logEnd,
  type RunState,
  readLogStates,
  readStoredChunks,
  runMark,
  type Stored,
  searchBytesMax,
} from './stored.ts'

export interface LogStart {
  jobId: string
  after?: LogCursor | undefined
  lastLines?: number | undefined
  run?: number | undefined
  streams: readonly LogStream[]
}

/** Where a page starts. At most one of these fields may be set. */
export interface PageStart extends LogStart {
  /** Number of a line in the run. */
  fromLine?: number | undefined
  /** The page starts with the first line stored at or after this moment. */
  at?: Date | undefined
  /** The page ends at this cursor. */
  before?: LogCursor | undefined
}

export interface LogGap {
  run: number
  startOffset: number
  endOffset: number
  reason: Gap['gap']
  /** Number of the first line after the gap; null: no output is stored after it. */
  line: number | null
  cursor: LogCursor
}

export interface LogPage {
  text: string
  lines: LogLine[]
  gaps: LogGap[]
  start: LogCursor
  /** Where the next page starts. */
  cursor: LogCursor
  isFinal: boolean
}

/** The job was deleted, perhaps while the page was read. */
export class LogGone extends Error {
  override name = 'LogGone'
}

export class LogElsewhere extends Error {
  override name = 'LogElsewhere'
}

/** Maximum size of a page's text as JSON, in which a control character has six bytes. */
const pageTextBytesMax = 1_048_576
export const pageGapsMax = 1_000
/** A page with less free space is full. */
const roomBytesMin = 8_192

/** Maximum number of lines per page. */
export const pageLinesMax = 5_000

export async function findStartCursor(
  sql: Sql,
  { jobId, after, lastLines, run, streams }: LogStart,
): Promise<LogCursor> {
  if (after) return after
  if (lastLines !== undefined)
    return findLastLinesStart(sql, { jobId, run, codes: encodeStreams(streams), lines: lastLines })
  return { run: run ?? 1, offset: 0 }
}

/** Describes the gap from the cursor on. */
export const makeGapMessage = (cursor: LogCursor, { end, gap, lineState }: Gap): LogGap => ({
  run: cursor.run,
  startOffset: cursor.offset,
  endOffset: end,
  reason: gap,
  line: lineState ? getFirstLineNumber(lineState) : null,
  cursor: { ...cursor, offset: end },
})

/** MORE: further chunks are stored. OPEN: bytes may be appended. END: the log is complete. */
export function findContinuation(
  stored: readonly Stored[],
  log: NonNullable<RunState['log']>,
): 'MORE' | 'OPEN' | 'END' {
  if ((stored.at(-1)?.end ?? 0) < log.end) return 'MORE'
  return log.sealed ? 'END' : 'OPEN'
}

/**
 * Reads one page of a job's log over all its runs. The page is empty only if no output follows, or, for a page that
 * ends at a cursor, if none precedes it.
 */
export async function readLog(sql: Sql, options: PageStart & { linesMax: number }): Promise<LogPage> {
  const { jobId, run: only } = options
  const codes = encodeStreams(options.streams)
  const { start, end } = await findRange(sql, options)
  const linesMax = end ? Number.POSITIVE_INFINITY : options.linesMax
  const page: LogPage = { text: '', lines: [], gaps: [], start, cursor: start, isFinal: false }
  let searched = 0
  for (;;) {
    const state = await readStateAt(sql, jobId, page.cursor)
    markCursors(page, state)
    const place = findPlace(page.cursor, state, { only, end })
    if (place === 'END') return { ...page, isFinal: isLogOver(state, page.cursor.offset, only) }
    if ('next' in place) {
      page.cursor = place.next
      continue
    }
    const room = roomLeft(page, end ? 0 : searched)
    if (page.lines.length >= linesMax || room < roomBytesMin) return page
    const until = findUntil(page.cursor, end)
    const read = await readOn(sql, page, { log: place.log, codes, room, linesMax, until })
    if (read === 0) return page
    searched += read
  }
}

/**
 * Reads the output up to its current end, in pages that have either lines or gaps, in order, to write it into a file.
 */
export async function* readLogInOrder(
  sql: Sql,
  { jobId, run: only, streams }: Pick<LogStart, 'jobId' | 'run' | 'streams'>,
): AsyncGenerator<LogPage> {
  const codes = encodeStreams(streams)
  const end = await findEnd(sql, jobId, only)
  let cursor: LogCursor = { run: only ?? 1, offset: 0 }
  for (;;) {
    const page: LogPage = { text: '', lines: [], gaps: [], start: cursor, cursor, isFinal: false }
    const place = findPlace(cursor, await readStateAt(sql, jobId, cursor), { only, end })
    if (place === 'END') return
    if ('next' in place) {
      cursor = place.next
      continue
    }
    const until = findUntil(cursor, end)
    const room = { log: place.log, codes, room: pageTextBytesMax, linesMax: pageLinesMax, until }
    if ((await readOn(sql, page, room)) === 0) return
    yield page
    cursor = page.cursor
  }
}

function markCursors(page: LogPage, { log }: RunState): void {
  if (!log) return
  const { cursor, start } = page
  page.cursor = { ...cursor, mark: runMark(log.runId) }
  if (cursor.run === start.run && cursor.offset === start.offset) page.start = page.cursor
}

/** Returns where the page continues: in this log, in another run, or not at all. */
function findPlace(
  cursor: LogCursor,
  state: RunState,
  { only, end }: { only: number | undefined; end: LogCursor | undefined },
): 'END' | { next: LogCursor } | { log: NonNullable<RunState['log']> } {
  const { offset } = cursor
  const until = findUntil(cursor, end)
  if (until !== undefined && offset >= until) return 'END'
  if (state.log && offset < state.log.end) return { log: state.log }
  const next = only === undefined ? findNextRun(state, offset) : null
  return next === null ? 'END' : { next: { run: next, offset: 0 } }
}

/** Returns where the page ends in this run, or undefined if it ends in a later run. */
const findUntil = ({ run }: LogCursor, end: LogCursor | undefined): number | undefined =>
  end && run >= end.run ? end.offset : undefined

/** Returns where the page starts, and where it ends if it is read backwards. */
async function findRange(
  sql: Sql,
  options: PageStart & { linesMax: number },
): Promise<{ start: LogCursor; end?: LogCursor }> {
  const { jobId, run, fromLine, at, before } = options
  if (fromLine !== undefined) return { start: await findLine(sql, { jobId, run: run ?? 1, line: fromLine }) }
  if (at !== undefined) return { start: await findFirstLineAt(sql, { jobId, run, at }) }
  if (before === undefined) return { start: await findStartCursor(sql, options) }
  await readStateAt(sql, jobId, before)
  const codes = encodeStreams(options.streams)
  // Lines of other streams may begin before the page and continue in it.
  const linesMax = Math.min(options.linesMax, pageLinesMax - codes.size + 1)
  const only = run === undefined ? undefined : before.run
  const limits = { linesMax, textBytesMax: pageTextBytesMax - roomBytesMin, gapsMax: pageGapsMax - 1 }
  return { start: await findPageStart(sql, { jobId, run: only, codes, before, ...limits }), end: before }
}

/** Returns the end of the output of a job, or of one run. */
export async function findEnd(sql: Sql, jobId: string, run: number | undefined): Promise<LogCursor> {
  if (run === undefined) return logEnd(sql, jobId)
  const [state] = await readLogStates(sql, [{ jobId, run }])
  return { run, offset: state?.log?.end ?? 0 }
}

function roomLeft({ text, gaps }: LogPage, searched: number): number {
  const isFull = gaps.length >= pageGapsMax || (text !== '' && searched >= searchBytesMax)
  return isFull ? 0 : pageTextBytesMax - countJsonBytes(text)
}

/** Returns the number of bytes read, without skipped ones. */
async function readOn(sql: Sql, page: LogPage, room: Room): Promise<number> {
  const { runId, end } = room.log
  const until = room.until ?? end
  const { text } = page
  const { offset } = page.cursor
  if (!addTo(page, clipChunks(await readStoredChunks(sql, { runId, from: offset, end }), until), room)) return 0
  const from = page.cursor.offset
  if (page.text === text) {
    const next = await findNextOutput(sql, { runId, from, end, codes: room.codes })
    page.cursor = { ...page.cursor, offset: Math.min(next, until) }
  }
  return from - offset
}

/** Throws if the output at the cursor does not exist. */
export async function readStateAt(sql: Sql, jobId: string, cursor: LogCursor): Promise<RunState> {
  const [state] = await readLogStates(sql, [{ jobId, run: cursor.run }])
  if (!state) throw new LogGone(`The job ${jobId} was deleted`)
  if (isElsewhere(cursor, state)) throw new LogElsewhere(`The job ${jobId} has no output at this cursor`)
  return state
}

interface Room {
  log: NonNullable<RunState['log']>
  codes: ReadonlySet<number>
  room: number
  linesMax: number
  /** Offset at which the page ends. */
  until: number | undefined
}

function addTo(page: LogPage, stored: readonly Stored[], { log, codes, room, linesMax }: Room): boolean {
  const [first] = stored
  if (!first) return false
  if (first.gap !== null) {
    addGaps(page, stored)
    return true
  }
  const { run, offset } = page.cursor
  const follows = findContinuation(stored, log)
  const add = (upTo: 'ALL' | 'BYTES') => {
    const left = linesMax - page.lines.length
    const part = cutPassageOfLines(stored, run, { from: offset, codes, bytesMax: room, follows, upTo, linesMax: left })
    page.text += part.text
    page.lines.push(...part.lines)
    page.cursor = { ...page.cursor, offset: part.end }
    return part.end > offset
  }
  return add('ALL') || (follows === 'MORE' && add('BYTES'))
}

function addGaps(page: LogPage, stored: readonly Stored[]): void {
  for (const item of stored) {
    if (item.gap === null || page.gaps.length >= pageGapsMax) return
    const gap = makeGapMessage(page.cursor, item)
    page.gaps.push(gap)
    page.cursor = gap.cursor
  }
}
