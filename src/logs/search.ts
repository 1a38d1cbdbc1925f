import type { Clock } from '../platform/clock.ts'
import type { Sql } from '../platform/tx.ts'
import { encodeStreams } from './batch.ts'
import { type BytesChunk, hasStream } from './chunk.ts'
import { logsBackwards } from './last-lines.ts'
import {
  continueLine,
  type Hit,
  type LineRange,
  LineScan,
  type Matcher,
  type OpenLine,
  readSegments,
} from './line-scan.ts'
import { decodeStream, type LogStream, lineParts } from './lines.ts'
import { readChunksBackwards } from './page-start.ts'
import { findEnd, readStateAt } from './read.ts'
import { type LogCursor, nextOutput, nextRun, type RunState, runMark } from './stored.ts'
import { StoredPages } from './stored-pages.ts'

/**
 * Searches the lines of a job's log, forwards from a cursor or backwards. A search stops after `first` matches, or when its
 * budget of bytes or time is spent, and goes on from its cursor. Forwards the cursor stands before the lines that are not
 * searched yet, backwards behind them. A line is searched up to `lineWindowBytes` after its beginning.
 */

export interface LogSearchOptions {
  jobId: string
  /** This run only. */
  run?: number | undefined
  streams: readonly LogStream[]
  after?: LogCursor | undefined
  backwards: boolean
  matcher: Matcher
  /** Matches at most. */
  first: number
  clock: Clock
}

export interface LogMatch {
  run: number
  line: number
  at: Date
  stream: LogStream
  /** The beginning of the line, at most `matchCharactersMax` characters. */
  text: string
}

export interface LogSearch {
  matches: LogMatch[]
  cursor: LogCursor
  /** Nothing that is stored is left to search. */
  isComplete: boolean
  scannedBytes: number
}

/** Bytes and processor time of one search. */
export const searchedBytesMax = 16_777_216
const searchedMsMax = 250
export const matchCharactersMax = 2_000
/** Bytes of the log in which a line is searched. */
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
  readonly #matches: LogMatch[] = []
  #scannedBytes = 0
  /** A line that may go on begins here, and no match behind it: it is searched again with its next bytes. */
  #openFrom: number | null = null
  #pages: StoredPages | null = null
  /** The chunk behind the present one of a search backwards, in which its last line may go on. */
  #next: BytesChunk | null = null

  constructor(sql: Sql, options: LogSearchOptions) {
    this.#sql = sql
    this.#options = options
    this.#codes = encodeStreams(options.streams)
    this.#scan = new LineScan(options.matcher, this.#codes, options.clock)
  }

  async forwards(): Promise<LogSearch> {
    const { jobId, run: only, after } = this.#options
    let cursor = after ?? { run: only ?? 1, offset: 0 }
    for (;;) {
      const state = await readStateAt(this.#sql, jobId, cursor)
      if (state.log) cursor = { ...cursor, mark: runMark(state.log.runId) }
      if (!state.log || cursor.offset >= state.log.end) {
        const next = only === undefined ? nextRun(state, cursor.offset) : null
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
    for await (const { run_id: runId, number, end_offset } of logsBackwards(this.#sql, {
      jobId,
      run,
      until: end.run,
    })) {
      const until = number === end.run ? end.offset : end_offset
      const log = { runId, end: end_offset, sealed: true }
      const stoppedAt = await this.#scanBackwards(log, number, until)
      cursor = { run: number, offset: stoppedAt ?? 0, mark: runMark(runId) }
      if (stoppedAt !== null) return this.#result(cursor, false)
    }
    return this.#result(cursor, true)
  }

  /** Scans the lines of a run that begin before `until`. Returns where the search stopped; null: all are scanned. */
  async #scanBackwards(log: RunOutput['log'], run: number, until: number): Promise<number | null> {
    const pages = new StoredPages(this.#sql, log)
    this.#next = null
    let offset = until
    for await (const chunk of readChunksBackwards(this.#sql, { runId: log.runId, end: until, codes: this.#codes })) {
      if (this.#isSpent()) return offset
      if (chunk.gap !== null) continue
      const hits = await this.#scanChunk({ log, pages }, chunk, { from: 0, until })
      const last = this.#take(run, chunk, hits.reverse())
      const next = last ? last.begin : chunk.start
      this.#scannedBytes += Math.min(chunk.end, until) - next
      if (last) return next
      this.#next = chunk
      offset = next
    }
    return null
  }

  #result(cursor: LogCursor, isComplete: boolean): LogSearch {
    return { matches: this.#matches, cursor, isComplete, scannedBytes: this.#scannedBytes }
  }

  #isSpent(): boolean {
    return (
      this.#matches.length >= this.#options.first ||
      this.#scannedBytes >= searchedBytesMax ||
      this.#scan.spentMs >= searchedMsMax
    )
  }

  /** Scans chunks from the cursor on until the search is spent; returns where it goes on. */
  async #scanPage({ log, pages }: RunOutput, { run, offset: from }: LogCursor): Promise<number> {
    const { runId, end } = log
    let offset = from
    const items = await pages.read(from)
    const isSparse = !items.some((item) => item.gap === null && hasStream(item, this.#codes))
    if (!isSparse) pages.readAhead(items)
    for (const item of items) {
      if (this.#isSpent()) return offset
      if (item.gap === null && hasStream(item, this.#codes)) {
        const hits = await this.#scanChunk({ log, pages }, item, { from: offset, until: Number.POSITIVE_INFINITY })
        const last = this.#take(run, item, hits)
        const next = last ? last.begin + 1 : item.end
        this.#scannedBytes += next - offset
        if (last) return next
      }
      offset = item.end
    }
    return isSparse ? nextOutput(this.#sql, { runId, from: offset, end, codes: this.#codes }) : offset
  }

  /** The hits among the lines that begin in a chunk, in order. */
  async #scanChunk(output: RunOutput, chunk: BytesChunk, range: LineRange): Promise<Hit[]> {
    const { hits, open } = await this.#scan.scanChunk(chunk, range)
    for (const line of open) {
      const ended = await this.#readRest(output, line, chunk.end)
      const found = await this.#scan.scanLine(line)
      hits.push(...found)
      if (!ended && found.length === 0) this.#openFrom = Math.min(this.#openFrom ?? line.begin, line.begin)
    }
    return hits.sort((a, b) => a.begin - b.begin)
  }

  /** Reads the bytes of a line behind its first chunk. false: more may come. */
  async #readRest({ log, pages }: RunOutput, line: OpenLine, from: number): Promise<boolean> {
    let offset = from
    while (offset < log.end && offset - line.begin < lineWindowBytes) {
      const chunk = this.#next?.start === offset ? this.#next : await pages.findChunk(offset)
      if (!chunk || chunk.gap !== null) return true
      if (hasStream(chunk, new Set([line.code])))
        for (const { bytes } of readSegments(chunk, new Set([line.code])))
          if (continueLine(line, bytes) !== null) return true
      offset = chunk.end
    }
    return log.sealed || offset < log.end
  }

  /** Adds hits of a chunk in their order. Returns the last one that was added, if others are left. */
  #take(run: number, chunk: BytesChunk, hits: readonly Hit[]): Hit | null {
    const taken = hits.slice(0, this.#options.first - this.#matches.length)
    const numbers = numberLines(chunk, taken)
    for (const { begin, code, bytes } of taken) {
      const text = bytes
        .toString()
        .slice(0, matchCharactersMax)
        .replace(/[\ud800-\udbff]$/, '')
      if (this.#openFrom !== null && begin >= this.#openFrom) this.#openFrom = null
      this.#matches.push({ run, line: numbers.get(begin) ?? 0, at: chunk.at, stream: decodeStream(code), text })
    }
    return taken.length < hits.length ? (taken.at(-1) ?? null) : null
  }
}

/** The numbers of lines that begin in a chunk, by offset. */
function numberLines(chunk: BytesChunk, hits: readonly Hit[]): ReadonlyMap<number, number> {
  const begins = new Set(hits.map(({ begin }) => begin))
  const numbers = new Map<number, number>()
  if (hits.length === 0) return numbers
  for (const { begins: isBegin, offset, line } of lineParts(chunk))
    if (isBegin && begins.has(offset)) numbers.set(offset, line)
  return numbers
}
