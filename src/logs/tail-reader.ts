import { holdBlock, releaseBlock } from '../platform/blocks.ts'
import { getHeartbeatDueMs, getHeartbeatTime } from '../platform/heartbeat.ts'
import { readIfAvailable, readWhenAvailable, retryMs } from '../platform/read-if-available.ts'
import { countBytes, cutPassage, cutPassageOfLines, encodeStreams, type Passage } from './batch.ts'
import type { CutOptions } from './cut.ts'
import type { Hubs, HubsOptions, RunHub } from './hubs.ts'
import { findContinuation, findStartCursor, makeGapMessage } from './read.ts'
import {
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
  toFresh,
} from './stored.ts'
import type { FollowOptions, TailMessage, TailReset } from './tail-message.ts'

const batchBytesMin = 4_096
const batchBytesMax = 1_048_576
/** An open line is held back for this time. */
const openLineMs = 50
const sharedPassagesMax = 8

/** The state of the log when the stream opened: where REPLAY ends and LIVE begins. */
interface Opening {
  start: LogCursor
  end: LogCursor
  closed: boolean
  beyond: boolean
}

type LogState = NonNullable<RunState['log']>

export interface TailRooms extends HubsOptions {
  hubs: Hubs
}

/** Reads the hub's state, and takes the next message or waits. */
export class TailReader {
  readonly #rooms: TailRooms
  readonly #options: FollowOptions
  readonly #signal: AbortSignal
  readonly #codes: ReadonlySet<number>
  readonly #bytesMax: number
  #hub: RunHub | undefined
  #cursor: LogCursor
  #border: Opening | undefined
  #page: Stored[] = []
  /** The page that is read ahead while a batch is being sent. */
  #ahead: { from: number; page: Promise<Stored[]> } | undefined
  /** Buffers of the last message. */
  #fresh: readonly Buffer[] = []
  #heldSince: number | undefined
  #lastSent: number
  #done = false

  constructor(rooms: TailRooms, options: FollowOptions, signal: AbortSignal) {
    this.#rooms = rooms
    this.#options = options
    this.#signal = signal
    this.#codes = encodeStreams(options.streams)
    this.#bytesMax = Math.min(batchBytesMax, Math.max(batchBytesMin, options.maxBatchBytes))
    this.#cursor = { run: options.run ?? 1, offset: 0 }
    this.#lastSent = rooms.clock.monotonicMs()
  }

  async *messages(): AsyncGenerator<TailMessage, void, void> {
    this.#border = await this.#open()
    if (!this.#border) return
    this.#moveTo(this.#border.start)
    if (this.#border.beyond) yield this.#restarted()
    while (!this.#done && !this.#signal.aborted) {
      this.#holdFresh([])
      const message = (await this.#step()) ?? this.#heartbeat()
      if (!message) continue
      this.#lastSent = this.#rooms.clock.monotonicMs()
      yield message
    }
  }

  close() {
    if (this.#hub) this.#rooms.hubs.close(this.#hub)
    this.#hub = undefined
  }

  #open(): Promise<Opening | undefined> {
    const { sql } = this.#rooms.db
    const { jobId } = this.#options
    return readWhenAvailable(this.#rooms, this.#signal, async () => {
      const end = await logEnd(sql, jobId)
      const start = await findStartCursor(sql, this.#options)
      const [state] = await readLogStates(sql, [{ jobId, run: start.run }])
      const beyond = state != null && isElsewhere(start, state)
      return { start: beyond ? this.#cursor : start, end, closed: state?.closed ?? true, beyond }
    })
  }

  /** Returns the next message, or undefined to check again. */
  async #step(): Promise<TailMessage | undefined> {
    const state = this.#hub?.state
    if (state === undefined) return this.#wait()
    if (state === null) return this.#last(this.#deleted())
    if (isElsewhere(this.#cursor, state)) return this.#checkCursor(state)
    const { offset } = this.#cursor
    if (state.log) this.#cursor = { ...this.#cursor, mark: runMark(state.log.runId) }
    if (state.log && offset < state.log.end) return this.#content(state, state.log)
    if (isLogOver(state, offset, this.#options.run)) return this.#last(this.#batch(this.#nothing(), true))
    const next = this.#options.run === undefined ? findNextRun(state, offset) : null
    if (next === null) return this.#wait()
    this.#moveTo({ run: next, offset: 0 })
    return { kind: 'run', jobId: this.#options.jobId, run: next, cursor: this.#cursor, instead: this.#deleted() }
  }

  /** Either this hub is behind another server that stored the output up to the cursor, or the database lost it. */
  async #checkCursor(known: RunState): Promise<TailMessage | undefined> {
    const { jobId } = this.#options
    const place = { jobId, run: this.#cursor.run }
    const states = await readIfAvailable(this.#rooms.log, () => readLogStates(this.#rooms.db.sql, [place]))
    if (!states) return this.#wait(retryMs)
    const [state] = states
    if (!state) return this.#last(this.#deleted())
    if (!isElsewhere(this.#cursor, state)) return this.#hub?.state === known ? this.#wait() : undefined
    const end = await readIfAvailable(this.#rooms.log, () => logEnd(this.#rooms.db.sql, jobId))
    if (!end) return this.#wait(retryMs)
    const start = { run: this.#options.run ?? 1, offset: 0 }
    this.#border = { start, end, closed: state.closed, beyond: true }
    this.#moveTo(start)
    return this.#restarted()
  }

  #restarted(): TailReset {
    return { kind: 'reset', reason: 'RETENTION', jobIds: [], cursor: this.#cursor }
  }

  #deleted(): TailReset {
    return { kind: 'reset', reason: 'DELETED', jobIds: [this.#options.jobId], cursor: this.#cursor }
  }

  async #content(state: RunState, log: LogState): Promise<TailMessage | undefined> {
    const shared = this.#hub?.chunksFrom(this.#cursor.offset) ?? null
    if (shared) this.#forgetPages()
    const stored = shared ?? (await readIfAvailable(this.#rooms.log, () => this.#ownPage(log)))
    if (!stored) return this.#wait(retryMs)
    const [first] = stored
    if (first && first.gap !== null) return this.#gap(first)
    const waited = this.#heldMs() >= openLineMs
    const part = this.#cut(stored, { follows: findContinuation(stored, log), share: shared !== null, waited })
    // If the state changed while the page was read, the bell rang before the reader waited for it.
    if (part.end === this.#cursor.offset) return this.#hub?.state === state ? this.#hold(waited) : undefined
    this.#heldSince = undefined
    this.#holdFresh(toFresh(stored.filter(({ start }) => start < part.end)))
    const over = isLogOver(state, part.end, this.#options.run)
    const message = this.#batch(part, over)
    this.#cursor = message.cursor
    if (over) return this.#last(message)
    if (shared) this.#hub?.took(part.end)
    else this.#readAhead(log)
    return countBytes(part.utf8) === 0 ? undefined : message
  }

  /** Returns the gap as a message. The output of a deleted job is missing, too, so the job is checked first. */
  async #gap(gap: Gap): Promise<TailMessage | undefined> {
    const place = { jobId: this.#options.jobId, run: this.#cursor.run }
    const states = await readIfAvailable(this.#rooms.log, () => readLogStates(this.#rooms.db.sql, [place]))
    if (!states) return this.#wait(retryMs)
    if (states[0] === null) return this.#last(this.#deleted())
    const message = makeGapMessage(this.#cursor, gap)
    this.#cursor = message.cursor
    return { kind: 'gap', ...message }
  }

  #cut(
    stored: readonly Stored[],
    { follows, share, waited }: { follows: CutOptions['follows']; share: boolean; waited: boolean },
  ): Passage {
    const { offset } = this.#cursor
    const upTo = waited ? 'ALL' : 'LINES'
    const options = { from: offset, codes: this.#codes, bytesMax: this.#bytesMax, follows, upTo } as const
    const part = share ? this.#sharedPassage(stored, options) : this.#passage(stored, options)
    if (part.end > offset || follows !== 'MORE') return part
    return this.#passage(stored, { ...options, upTo: 'BYTES' })
  }

  #passage(stored: readonly Stored[], options: CutOptions): Passage {
    const { linesMax } = this.#options
    const { run } = this.#cursor
    return linesMax === undefined
      ? cutPassage(stored, run, options)
      : cutPassageOfLines(stored, run, { ...options, linesMax })
  }

  #sharedPassage(stored: readonly Stored[], options: CutOptions): Passage {
    const passages = this.#hub?.passages ?? new Map<string, Passage>()
    const key = [options.from, ...this.#codes, options.bytesMax, options.upTo, this.#options.linesMax].join(' ')
    const part = passages.get(key) ?? this.#passage(stored, options)
    if (passages.size >= sharedPassagesMax) passages.clear()
    passages.set(key, part)
    return part
  }

  /** Returns stored chunks from the cursor on: the rest of the last page, and the next page if the rest is short. */
  async #ownPage({ runId, end }: LogState): Promise<Stored[]> {
    const { sql } = this.#rooms.db
    const from = this.#cursor.offset
    const left = this.#page.filter((item) => item.end > from)
    const kept = (left[0]?.start ?? end) <= from ? left : []
    const reach = kept.at(-1)?.end ?? from
    this.#page = kept
    if (reach >= end || reach - from >= this.#bytesMax) return kept
    const more = await (this.#takeAhead(reach) ?? readStoredChunks(sql, { runId, from: reach, end }))
    // Chunks are merged when their run has ended. Then the next page begins inside of the last chunk.
    const joins = kept.length === 0 || more[0]?.start === reach
    this.#page = joins ? [...kept, ...more] : await readStoredChunks(sql, { runId, from, end })
    return this.#page
  }

  /** Starts to read the next page if the current one has no further full batch. */
  #readAhead({ runId, end }: LogState) {
    const reach = this.#page.at(-1)?.end ?? end
    if (this.#ahead || reach >= end || reach - this.#cursor.offset >= this.#bytesMax) return
    const page = readStoredChunks(this.#rooms.db.sql, { runId, from: reach, end })
    page.catch(() => undefined) // thrown by `#takeAhead`
    this.#ahead = { from: reach, page }
  }

  #takeAhead(from: number): Promise<Stored[]> | undefined {
    const ahead = this.#ahead
    this.#ahead = undefined
    return ahead?.from === from ? ahead.page : undefined
  }

  /** Holds the buffers until the next message is taken, because this one is sent by then. */
  #holdFresh(bytes: readonly Buffer[]) {
    bytes.forEach(holdBlock)
    this.#fresh.forEach(releaseBlock)
    this.#fresh = bytes
  }

  #forgetPages() {
    this.#page = []
    this.#ahead = undefined
  }

  /** Waits for the open line, or, after that time, for more output. */
  async #hold(waited: boolean): Promise<undefined> {
    this.#heldSince ??= this.#rooms.clock.monotonicMs()
    return waited ? this.#wait() : this.#wait(Math.max(0, openLineMs - this.#heldMs()))
  }

  #heldMs(): number {
    return this.#heldSince === undefined ? 0 : this.#rooms.clock.monotonicMs() - this.#heldSince
  }

  async #wait(msMax = Number.POSITIVE_INFINITY): Promise<undefined> {
    const due = getHeartbeatDueMs(this.#lastSent) - this.#rooms.clock.monotonicMs()
    await this.#hub?.bell.wait(Math.min(msMax, due), this.#signal)
  }

  #heartbeat(): TailMessage | undefined {
    if (this.#rooms.clock.monotonicMs() < getHeartbeatDueMs(this.#lastSent)) return undefined
    return { kind: 'heartbeat', cursor: this.#cursor, at: getHeartbeatTime(this.#rooms.time.nowMs()) }
  }

  #batch(part: Passage, isFinal: boolean): TailMessage & { kind: 'batch' } {
    const { run } = this.#cursor
    return {
      kind: 'batch',
      run,
      utf8: part.utf8,
      get text() {
        return part.text
      },
      get lines() {
        return part.lines
      },
      startOffset: part.start,
      endOffset: part.end,
      cursor: { ...this.#cursor, offset: part.end },
      phase: this.#isReplay({ run, offset: part.start }) ? 'REPLAY' : 'LIVE',
      isFinal,
    }
  }

  #isReplay({ run, offset }: LogCursor): boolean {
    if (!this.#border) return true
    const { closed, end } = this.#border
    return closed || run < end.run || (run === end.run && offset < end.offset)
  }

  #nothing(): Passage {
    return { utf8: [], text: '', lines: [], start: this.#cursor.offset, end: this.#cursor.offset }
  }

  #last(message: TailMessage): TailMessage {
    this.#done = true
    return message
  }

  /** Enters the new hub before leaving the old one, so that their loop continues. */
  #moveTo(place: LogCursor) {
    const old = this.#hub
    this.#cursor = place
    this.#forgetPages()
    this.#hub = this.#rooms.hubs.open(this.#options.jobId, place.run)
    if (old) this.#rooms.hubs.close(old)
  }
}
