import type { Sql } from '../platform/tx.ts'
import { readChunksBackwards, readLogsBackwards } from './backwards.ts'
import { countJsonBytes, pieceBytes } from './batch.ts'
import { hasStream } from './chunk.ts'
import { findCharacter, type LinePart, readLineParts } from './lines.ts'
import { clipChunks, type LogCursor, readBytes, type Stored, searchBytesMax } from './stored.ts'

export interface PageBefore {
  jobId: string
  /** Number of the run; absent: all runs. */
  run?: number | undefined
  codes: ReadonlySet<number>
  /** Where the page ends. */
  before: LogCursor
  linesMax: number
  /** Maximum size of the text as JSON. */
  textBytesMax: number
  gapsMax: number
}

/** Maximum size of one byte as JSON. */
const jsonGrowth = 6

/**
 * Finds where a page begins that ends at `before`, with at most the given lines, text and gaps, over all runs. The page
 * begins with the first byte of a line, unless a single line is longer than a page.
 */
export async function findPageStart(sql: Sql, options: PageBefore): Promise<LogCursor> {
  const { jobId, run, before } = options
  const walk = new Walk(options)
  let start = before
  for await (const log of readLogsBackwards(sql, { jobId, run, fromRun: before.run })) {
    const end = log.number === before.run ? before.offset : log.end_offset
    if (start !== before) walk.enterRun(end)
    for await (const stored of readChunksBackwards(sql, { runId: log.run_id, end, codes: options.codes })) {
      const [chunk] = clipChunks([stored], end)
      const offset = chunk ? walk.add(chunk) : null
      if (offset !== null) return { run: log.number, offset }
    }
    start = { run: log.number, offset: 0 }
    if (walk.isFull) return start
  }
  return start
}

/** Walks backwards over chunks until the page is full. */
class Walk {
  readonly #codes: ReadonlySet<number>
  /** Maximum bytes of the page's last line, which may be cut at its beginning. */
  readonly #lineBytesMax: number
  #lines: number
  #textBytes: number
  #gaps: number
  #searched = searchBytesMax
  #taken = 0
  /** Bytes of the lines whose beginning was not reached yet, by stream. */
  #open = new Map<number, number>()
  /** Start of the page so far; null while its last line is not complete. */
  #start: number | null = null
  #next: number | null = null

  constructor({ codes, linesMax, textBytesMax, gapsMax }: PageBefore) {
    this.#codes = codes
    this.#lines = linesMax
    this.#textBytes = textBytesMax
    this.#gaps = gapsMax
    this.#lineBytesMax = Math.min(linesMax * pieceBytes, Math.floor(textBytesMax / jsonGrowth))
  }

  /** Adds the chunk before the previous one. Returns the start of the page if it is full, else null. */
  add(chunk: Stored): number | null {
    const between = Math.min((this.#next ?? chunk.end) - chunk.end, readBytes)
    this.#next = chunk.start
    if (chunk.gap !== null) return this.#addGap(chunk.end, chunk.start)
    const parts = hasStream(chunk, this.#codes) ? [...readLineParts(chunk)] : []
    for (const part of parts.reverse()) {
      if (!this.#codes.has(part.code)) continue
      const full = this.#addPart(part)
      if (full !== null) return full
    }
    this.#searched -= between + chunk.end - chunk.start
    return this.#searched <= 0 ? (this.#start ?? chunk.start) : null
  }

  /** Continues at the end of the previous run. */
  enterRun(end: number): void {
    this.#open.clear()
    this.#start = end
    this.#next = null
    this.#gaps--
  }

  get isFull(): boolean {
    return this.#lines === 0 || this.#gaps <= 0
  }

  #addGap(end: number, start: number): number | null {
    if (this.#gaps <= 0) return end
    this.#gaps--
    this.#open.clear()
    this.#start = start
    return null
  }

  #addPart({ code, offset, bytes, begins }: LinePart): number | null {
    const json = countJsonBytes(bytes.toString())
    const size = (this.#open.get(code) ?? 0) + bytes.length
    const room = this.#lineBytesMax - this.#taken
    if (this.#start === null && bytes.length > room) return offset + findCharacter(bytes, bytes.length - room)
    if (this.#start !== null && json > this.#textBytes) return this.#start
    this.#textBytes -= json
    this.#taken += bytes.length
    this.#open.set(code, size)
    if (!begins) return null
    const pieces = Math.ceil(size / pieceBytes)
    if (pieces > this.#lines) return this.#start ?? offset
    this.#lines -= pieces
    this.#open.delete(code)
    this.#start = offset
    return this.#lines === 0 ? offset : null
  }
}
