import type { Sql } from '../platform/tx.ts'
import { countJsonBytes, encodeStreams, type LogLine, passageOfLines } from './batch.ts'
import { lastLinesStart } from './last-lines.ts'
import type { LogStream } from './lines.ts'
import {
  type Gap,
  isElsewhere,
  isLogOver,
  type LogCursor,
  nextOutput,
  nextRun,
  type RunState,
  readLogStates,
  readStored,
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

export interface LogGap {
  run: number
  startOffset: number
  endOffset: number
  reason: Gap['gap']
  cursor: LogCursor
}

export interface LogPage {
  text: string
  lines: LogLine[]
  gaps: LogGap[]
  cursor: LogCursor
  isFinal: boolean
}

/** The job was deleted before the page was read, or meanwhile. */
export class LogGone extends Error {
  override name = 'LogGone'
}

export class LogElsewhere extends Error {
  override name = 'LogElsewhere'
}

/** Maximum text of a page, as JSON: escaped control characters have six bytes each. */
const pageTextBytesMax = 1_048_576
export const pageGapsMax = 1_000
/** A page with less room than this left is full. */
const roomBytesMin = 8_192

export async function toStart(sql: Sql, { jobId, after, lastLines, run, streams }: LogStart): Promise<LogCursor> {
  if (after) return after
  if (lastLines !== undefined)
    return lastLinesStart(sql, { jobId, run, codes: encodeStreams(streams), lines: lastLines })
  return { run: run ?? 1, offset: 0 }
}

/** From the cursor on. */
export const gapMessage = (cursor: LogCursor, { end, gap }: Gap): LogGap => ({
  run: cursor.run,
  startOffset: cursor.offset,
  endOffset: end,
  reason: gap,
  cursor: { ...cursor, offset: end },
})

/** MORE: chunks are stored. OPEN: bytes may come. END: the log has ended. */
export function findContinuation(
  stored: readonly Stored[],
  log: NonNullable<RunState['log']>,
): 'MORE' | 'OPEN' | 'END' {
  if ((stored.at(-1)?.end ?? 0) < log.end) return 'MORE'
  return log.sealed ? 'END' : 'OPEN'
}

/** One page of a job's log over all its runs. It has neither text nor gaps only if no output follows now. */
export async function readLog(sql: Sql, options: LogStart & { linesMax: number }): Promise<LogPage> {
  const { jobId, run: only, linesMax } = options
  const codes = encodeStreams(options.streams)
  const page: LogPage = { text: '', lines: [], gaps: [], cursor: await toStart(sql, options), isFinal: false }
  let searched = 0
  for (;;) {
    const { offset } = page.cursor
    const state = await stateAt(sql, jobId, page.cursor)
    if (state.log) page.cursor = { ...page.cursor, mark: runMark(state.log.runId) }
    if (!state.log || offset >= state.log.end) {
      const next = only === undefined ? nextRun(state, offset) : null
      if (next === null) return { ...page, isFinal: isLogOver(state, offset, only) }
      page.cursor = { run: next, offset: 0 }
      continue
    }
    const room = roomLeft(page, searched)
    if (page.lines.length >= linesMax || room < roomBytesMin) return page
    const read = await readOn(sql, page, { log: state.log, codes, room, linesMax })
    if (read === 0) return page
    searched += read
  }
}

function roomLeft({ text, gaps }: LogPage, searched: number): number {
  const isFull = gaps.length >= pageGapsMax || (text !== '' && searched >= searchBytesMax)
  return isFull ? 0 : pageTextBytesMax - countJsonBytes(text)
}

/** Returns the number of bytes read; skipped ones do not count. */
async function readOn(sql: Sql, page: LogPage, room: Room): Promise<number> {
  const { runId, end } = room.log
  const { text } = page
  const { offset } = page.cursor
  if (!addTo(page, await readStored(sql, { runId, from: offset, end }), room)) return 0
  const from = page.cursor.offset
  if (page.text === text)
    page.cursor = { ...page.cursor, offset: await nextOutput(sql, { runId, from, end, codes: room.codes }) }
  return from - offset
}

async function stateAt(sql: Sql, jobId: string, cursor: LogCursor): Promise<RunState> {
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
    const part = passageOfLines(stored, run, { from: offset, codes, bytesMax: room, follows, upTo, linesMax: left })
    page.text += part.text
    page.lines.push(...part.lines)
    page.cursor = { ...page.cursor, offset: part.end }
    return part.end > offset
  }
  return add('ALL') || (follows === 'MORE' && add('BYTES'))
}

/** Those that come first. */
function addGaps(page: LogPage, stored: readonly Stored[]): void {
  for (const item of stored) {
    if (item.gap === null || page.gaps.length >= pageGapsMax) return
    const gap = gapMessage(page.cursor, item)
    page.gaps.push(gap)
    page.cursor = gap.cursor
  }
}
