import type { Sql } from '../platform/tx.ts'
import { readChunksBackwards, readLogsBackwards } from './backwards.ts'
import { encodeStreams } from './batch.ts'
import { type BytesChunk, hasStream, readSegments } from './chunk.ts'
import {
  continueLine,
  type Hit,
  type LineRange,
  LineScan,
  type LineSpan,
  type Lines,
  type Matcher,
  readChunkLines,
} from './line-scan.ts'
import { decodeStream, type LogStream, readLineParts } from './lines.ts'
import { findEnd, readStateAt } from './read.ts'
import { findNextOutput, findNextRun, type LogCursor, type RunState, runMark } from './stored.ts'
import { StoredPages } from './stored-pages.ts'

/**
 * Searches the lines of a job's log, forwards from a cursor or backwards. A search stops after `first` matches, or at
 * its limit of bytes or processor time, and can continue from its cursor. Forwards, the cursor is before the first
 * unsearched line; backwards, it is after it. Only the first `lineWindowBytes` of a line are searched.
 */

export interface LogSearchOptions {
  jobId: string
  /** Number of the run; absent: all runs. */
  run?: number | undefined
  streams: readonly LogStream[]
  after?: LogCursor | undefined
  backwards: boolean
  matcher: Matcher
  /** Maximum number of matches. */
  first: number
  /** Processor time of this thread. */
  processorMs(): number
}

export interface LogMatch {
  run: number
  line: number
  at: Date
  stream: LogStream
  /** The beginning of the line, up to `matchCharactersMax` characters. */
  text: string
  /** Ranges of the pattern in `text`, at most `matchRangesMax`. */
  ranges: readonly LineSpan[]
}

export interface LogSearch {
  matches: LogMatch[]
  cursor: LogCursor
  /** Whether all stored output was searched. */
  isComplete: boolean
  scannedBytes: number
}

/** Searching one line takes more processor time than a search may use. */
export class LineTooCostly extends Error {
  override name = 'LineTooCostly'
}

/** Maximum bytes of one search. Its processor time is limited as well (line-scan.ts). */
export const searchedBytesMax = 16_777_216
export const matchCharactersMax = 2_000
export const matchRangesMax = 100
/** A backward search reads pieces of this size forwards, and takes their matches in reverse order. */
const pieceBytesMax = 32_768
/** Size of the part of a line that is searched. */
const lineWindowBytes = 1_048_576

export function searchLog(sql: Sql, options: LogSearchOptions): Promise<LogSearch> {
  const search = new Search(sql, options)
  return options.backwards ? search.backwards() : search.forwards()
}

interface RunOutput {
  log: NonNullable<RunState['log']>
  pages: StoredPages
}

class Search {
  readonly #sql: Sql
  readonly #options: LogSearchOptions
  readonly #codes: ReadonlySet<number>
  readonly #scan: LineScan
  readonly #first: number
  readonly #matches: LogMatch[] = []
  #scannedBytes = 0
  /** Start of an open line without a match. It is searched again when more of its bytes are stored. */
  #openFrom: number | null = null
  #pages: StoredPages | null = null
  /** In a backward search: the chunk after the current one, in which the current chunk's last line may continue. */
  #next: BytesChunk | null = null

  constructor(sql: Sql, options: LogSearchOptions) {
    this.#sql = sql
    this.#options = options
    this.#codes = encodeStreams(options.streams)
    this.#scan = new LineScan(options.matcher, options.processorMs)
    this.#first = options.first
  }

  async forwards(): Promise<LogSearch> {
    const { jobId, run: only, after } = this.#options
    let cursor = after ?? { run: only ?? 1, offset: 0 }
    for (;;) {
      const state = await readStateAt(this.#sql, jobId, cursor)
      if (state.log) cursor = { ...cursor, mark: runMark(state.log.runId) }
      if (!state.log || cursor.offset >= state.log.end) {
        const next = only === undefined ? findNextRun(state, cursor.offset) : null
        if (next === null) return this.#result({ ...cursor, offset: this.#openFrom ?? cursor.offset }, true)
        cursor = { run: next, offset: 0 }
        this.#openFrom = null
        continue
      }
      if (this.#isSpent()) return this.#result(cursor, false)
      const pages = this.#openPages(state.log)
      cursor = { ...cursor, offset: await this.#scanPage({ log: state.log, pages }, cursor) }
    }
  }

  #openPages(log: RunOutput['log']): StoredPages {
    const isKnown = this.#pages?.runId === log.runId && this.#pages.end === log.end
    if (!this.#pages || !isKnown) this.#pages = new StoredPages(this.#sql, log)
    return this.#pages
  }

  async backwards(): Promise<LogSearch> {
    const { jobId, run: only, after } = this.#options
    const end = after ?? (await findEnd(this.#sql, jobId, only))
    await readStateAt(this.#sql, jobId, end)
    const run = only === undefined ? undefined : end.run
    let cursor = end
    for await (const { run_id: runId, number, end_offset } of readLogsBackwards(this.#sql, {
      jobId,
      run,
      fromRun: end.run,
    })) {
      const until = number === end.run ? end.offset : end_offset
      const log = { runId, end: end_offset, sealed: true }
      const stoppedAt = await this.#scanBackwards(log, number, until)
      cursor = { run: number, offset: stoppedAt ?? 0, mark: runMark(runId) }
      if (stoppedAt !== null) return this.#result(cursor, false)
    }
    return this.#result(cursor, true)
  }

  /** Scans the lines of a run that begin before `until`. Returns where it stopped; null: all lines are scanned. */
  async #scanBackwards(log: RunOutput['log'], run: number, until: number): Promise<number | null> {
    const pages = new StoredPages(this.#sql, log)
    this.#next = null
    for await (const chunk of readChunksBackwards(this.#sql, { runId: log.runId, end: until, codes: this.#codes })) {
      if (chunk.gap !== null) continue
      for (let end = Math.min(until, chunk.end); end > chunk.start; ) {
        if (this.#isSpent()) return end
        const from = Math.max(chunk.start, end - pieceBytesMax)
        const { hits, stoppedAt } = await this.#findHits({ log, pages }, chunk, { from, until: end })
        if (stoppedAt !== null) return end
        const left = await this.#take(run, chunk, hits.reverse())
        const next = left === null ? from : left + 1
        this.#scannedBytes += end - next
        if (left !== null) return next
        end = next
      }
      this.#next = chunk
    }
    return null
  }

  #result(cursor: LogCursor, isComplete: boolean): LogSearch {
    if (!isComplete && this.#scannedBytes === 0) throw new LineTooCostly()
    return { matches: this.#matches, cursor, isComplete, scannedBytes: this.#scannedBytes }
  }

  #isSpent(): boolean {
    return this.#matches.length >= this.#first || this.#scannedBytes >= searchedBytesMax || this.#scan.isSpent
  }

  /** Scans chunks from the cursor on until a limit is reached. Returns where to continue. */
  async #scanPage({ log, pages }: RunOutput, { run, offset: from }: LogCursor): Promise<number> {
    const { runId, end } = log
    let offset = from
    const items = await pages.read(from)
    const isSparse = !items.some((item) => item.gap === null && hasStream(item, this.#codes))
    if (!isSparse) pages.readAhead(items)
    for (const item of items) {
      if (this.#isSpent()) return offset
      if (item.gap === null && hasStream(item, this.#codes)) {
        const range = { from: offset, until: Number.POSITIVE_INFINITY }
        const { hits, stoppedAt } = await this.#findHits(
          { log, pages },
          item,
          range,
          this.#first - this.#matches.length,
        )
        const stopped = (await this.#take(run, item, hits)) ?? stoppedAt
        this.#scannedBytes += (stopped ?? item.end) - offset
        if (stopped !== null) return stopped
      }
      offset = item.end
    }
    return isSparse ? findNextOutput(this.#sql, { runId, from: offset, end, codes: this.#codes }) : offset
  }

  /** Finds matching lines that begin in a chunk, in order, and the first line that is not searched; null: all are. */
  async #findHits(
    output: RunOutput,
    chunk: BytesChunk,
    range: LineRange,
    hitsMax = Number.POSITIVE_INFINITY,
  ): Promise<{ hits: Hit[]; stoppedAt: number | null }> {
    const hits: Hit[] = []
    await this.#scan.nextSlice()
    await this.#scan.run(() => chunk.bytes)
    for (const lines of readChunkLines(chunk, this.#codes, range)) {
      if (lines.isOpen) await this.#readRest(output, lines, chunk.end)
      const before = hits.length
      const stoppedAt = await this.#scan.scan(lines, hits, hitsMax)
      if (stoppedAt !== null) return { hits, stoppedAt }
      if (lines.isOpen && hits.length === before) this.#openFrom ??= lines.begin
    }
    return { hits, stoppedAt: null }
  }

  /** Reads the bytes of a line after its first chunk. The line stays open if more bytes may be appended. */
  async #readRest({ log, pages }: RunOutput, line: Lines, from: number): Promise<void> {
    let offset = from
    while (line.isOpen && offset < log.end && offset - line.begin < lineWindowBytes) {
      const chunk = this.#next?.start === offset ? this.#next : await pages.findChunk(offset)
      if (!chunk || chunk.gap !== null) break
      if (hasStream(chunk, new Set([line.code])))
        for (const { bytes } of readSegments(chunk, new Set([line.code]))) if (line.isOpen) continueLine(line, bytes)
      offset = chunk.end
    }
    if (log.sealed || offset < log.end) line.isOpen = false
  }

  /** Adds hits in their order until a limit is reached. Returns where the next hit begins; null: all hits are added. */
  async #take(run: number, chunk: BytesChunk, hits: readonly Hit[]): Promise<number | null> {
    const wanted = hits.slice(0, this.#first - this.#matches.length)
    const numbers = await this.#scan.run(() => numberLines(chunk, wanted))
    for (const [index, { begin, code, bytes }] of hits.entries()) {
      if (this.#matches.length >= this.#first || (index > 0 && this.#scan.isOver)) return begin
      const text = bytes
        .toString()
        .slice(0, matchCharactersMax)
        .replace(/[\ud800-\udbff]$/, '')
      const ranges = await this.#scan.run(() => this.#options.matcher.ranges(text, matchRangesMax))
      if (this.#openFrom !== null && begin >= this.#openFrom) this.#openFrom = null
      this.#matches.push({ run, line: numbers.get(begin) ?? 0, at: chunk.at, stream: decodeStream(code), text, ranges })
    }
    return null
  }
}

/** Returns the numbers of lines that begin in a chunk, by offset. */
function numberLines(chunk: BytesChunk, hits: readonly Hit[]): ReadonlyMap<number, number> {
  const wanted = new Set(hits.map(({ begin }) => begin))
  const numbers = new Map<number, number>()
  for (const { offset, line, begins } of wanted.size > 0 ? readLineParts(chunk) : []) {
    if (begins && wanted.has(offset)) numbers.set(offset, line)
    if (numbers.size === wanted.size) break
  }
  return numbers
}
