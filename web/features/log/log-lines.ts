import { type Client, RequestFailed, requireField, type TailPart } from '@berth-jobs/berth/client'
import {
  FindMomentDocument,
  type LogGapReason,
  type LogGapRowFragment,
  LogLinesDocument,
  type LogLinesQueryVariables,
  type LogRowFragment,
  LogSizeDocument,
  type LogSizeFragment,
  LogStartDocument,
  type LogStream,
  LogTailDocument,
  type LogTailSubscription,
} from '../../generated/graphql.ts'
import { createListeners } from '../../ground/store.ts'
import { toFailure } from '../../ground/to-failure.ts'
import { allStreams, type Line, LineStore, linesPerPage, toPageIndex } from './line-store.ts'

export interface Gap {
  /** Byte offset in the output of the run. It identifies the gap. */
  startOffset: number
  /** The gap lies before this line. */
  beforeLine: number
  bytes: number
  reason: LogGapReason
}

export interface LogState {
  /** Number of lines of the run so far, as far as the page knows. */
  lineCount: number
  gaps: readonly Gap[]
  /** Size of the output including `gaps`, which are then complete; null: not known yet. */
  bytes: number | null
  /** true: the log has ended, and no more output will arrive. */
  isFinal: boolean
  /** Delay of the newest live line; null: no live line arrived yet. */
  behindMs: number | null
  failure: RequestFailed | null
  /** true: the job or its log was deleted. */
  isGone: boolean
  /** Increases with every change. */
  version: number
}

interface LogLinesOptions {
  client: Pick<Client, 'request' | 'tail'>
  jobId: string
  run: number
  /** Number of lines when the page was opened, so that pages can be read before the end of the log is known. */
  lineCount: number
  nowMs: () => number
  /** Calls a function before the next frame. */
  schedule: (run: () => void) => void
}

const streams = [...allStreams]
const documents = { tail: LogTailDocument, page: LogLinesDocument, first: 1_000 }
const lastLines = 100
const sparseLines = 200
/** New lines of a live log are shown five times a second, because a job may print in every frame. */
const liveStepMs = 200
/** Maximum number of pages read at the same time, so that dragging the scroll bar does not read every page on its way. */
const readsMax = 2
const forever = { attempts: Number.POSITIVE_INFINITY }

/**
 * The log of a run by line numbers. Pages are read when they are shown. The stream of a live log adds lines at the end.
 */
export class LogLines {
  readonly #options: LogLinesOptions
  readonly #leave = new AbortController()
  readonly #listeners = createListeners()
  readonly #store = new LineStore()
  readonly #reading = new Set<number>()
  /** Pages of the visible lines, the most needed first. */
  #wanted: readonly number[] = []
  #isScheduled = false
  #soon: ReturnType<typeof setTimeout> | undefined
  #isFollowing = false
  /** From this line on, lines came from the tail or the stream, whose text of open lines is the newest. */
  #streamFrom = Number.POSITIVE_INFINITY
  #state: LogState

  constructor(options: LogLinesOptions) {
    this.#options = options
    this.#state = {
      lineCount: options.lineCount,
      gaps: [],
      bytes: null,
      isFinal: false,
      behindMs: null,
      failure: null,
      isGone: false,
      version: 0,
    }
  }

  readonly state = (): LogState => this.#state

  readonly subscribe = this.#listeners.add

  /** Starts reading, or resumes after a failure. */
  start(): void {
    this.#change({ failure: null })
    this.#readWanted()
    if (this.#isFollowing) return
    this.#isFollowing = true
    this.#follow()
      .catch((error: unknown) => this.#fail(error))
      .finally(() => {
        this.#isFollowing = false
      })
  }

  stop(): void {
    this.#leave.abort()
    clearTimeout(this.#soon)
    this.#listeners.clear()
  }

  /** Returns a line; undefined: not read yet. */
  line(number: number): Line | undefined {
    return this.#store.line(number)
  }

  /** true: a line that was read begins or ends a group. */
  get hasMarks(): boolean {
    return this.#store.hasMarks
  }

  /** Reads the missing pages of these lines. Reads of earlier calls that have not begun are dropped. */
  show(numbers: readonly number[]): void {
    const known = numbers.filter((number) => number <= this.#state.lineCount)
    this.#wanted = [...new Set(known.map(toPageIndex))]
    for (const page of this.#wanted) this.#store.use(page)
    this.#readWanted()
  }

  /** Reads missing lines of the streams `only`, when other streams' lines between them are not shown. */
  async readScatteredLines(numbers: readonly number[], only: readonly LogStream[]): Promise<void> {
    const missing = numbers.find((number) => !this.#store.line(number))
    if (missing === undefined || this.#reading.size > 0 || this.#state.failure) return
    this.#reading.add(-1)
    try {
      const lines = await this.#read({ from: { line: missing }, first: sparseLines, streams: [...only] })
      this.#store.add(this.#withoutNewer(lines))
      this.#change({})
    } catch (error) {
      this.#fail(error)
    } finally {
      this.#reading.delete(-1)
    }
  }

  /** Returns the texts of a range of lines, and reads the missing ones. */
  async readTexts(from: number, to: number): Promise<string[]> {
    const texts: string[] = []
    for (let number = from; number <= to; number++) {
      const page = toPageIndex(number)
      if (!this.#store.line(number) && !this.#store.isRead(page)) await this.#readPage(page)
      texts.push(this.#store.line(number)?.text ?? '')
    }
    return texts
  }

  /** Finds the first line that was stored at `at` or later. */
  async findFirstLineAt(at: string): Promise<number | null> {
    const { client, jobId, run } = this.#options
    const { signal } = this.#leave
    const { job } = await client.request(FindMomentDocument, { id: jobId, run, at, streams }, { ...forever, signal })
    return job?.logs?.firstLine ?? null
  }

  /** Reads the last lines first, and then follows the stream. */
  async #follow() {
    const { client, jobId, run } = this.#options
    const { signal } = this.#leave
    for (;;) {
      const variables = { id: jobId, run, lastLines, streams }
      const { job } = await client.request(LogStartDocument, variables, { ...forever, signal })
      if (!job) throw new RequestFailed('NOT_FOUND', `Job ${jobId} not found`)
      const { lines, cursor, isFinal } = requireField(job.logs)
      this.#store.add(lines)
      this.#streamFrom = lines[0]?.number ?? 1
      const lineCount = Math.max(this.#state.lineCount, ...lines.map(({ number }) => number))
      this.#change({ lineCount })
      this.#takeSize(job)
      if (isFinal) return this.#change({ isFinal })
      if (!(await this.#readTail(cursor))) break
      this.#store.clear()
      this.#change({ lineCount: 0, gaps: [], bytes: null })
    }
    if (this.#state.isGone) return
    const { job } = await client.request(LogSizeDocument, { id: jobId, run }, { ...forever, signal })
    if (job) this.#takeSize(job)
    this.#change({ isFinal: true })
  }

  #takeSize({ logGaps, runs }: LogSizeFragment) {
    for (const gap of logGaps) this.#putGap(gap, this.#state.lineCount + 1)
    const size = runs.nodes.find(({ number }) => number === this.#options.run)
    if (!size) return
    this.#change({ bytes: size.logBytes, lineCount: Math.max(this.#state.lineCount, size.logLines) })
  }

  /** Follows the stream until it ends; true: the log was replaced and must be read from its beginning. */
  async #readTail(cursor: string): Promise<boolean> {
    const { client, jobId, run } = this.#options
    const begin = { run, after: cursor, streams, signal: this.#leave.signal }
    for await (const part of client.tail(jobId, { ...begin, documents })) {
      if (part.__typename !== 'StreamReset') this.#receive(part)
      else if (part.resetReason === 'DELETED') this.#change({ isGone: true })
      else return true
    }
    return false
  }

  #receive(message: TailPart<LogTailSubscription['tail']>) {
    const { lineCount } = this.#state
    if (message.__typename === 'LogGap') this.#putGap(message, lineCount + 1)
    if (message.__typename !== 'LogBatch') return
    const isUnknown = ({ number }: LogRowFragment) =>
      number <= lineCount && (number < this.#streamFrom || !this.#store.line(number))
    for (const { number } of message.lines.filter(isUnknown)) this.#store.drop(toPageIndex(number))
    this.#store.add(
      message.lines.filter((row) => !isUnknown(row)),
      lineCount,
    )
    const last = message.lines.at(-1)
    const behindMs = last ? Math.max(0, this.#options.nowMs() - Date.parse(last.at)) : this.#state.behindMs
    const newest = message.lines.reduce((most, { number }) => Math.max(most, number), lineCount)
    this.#set({ lineCount: newest, behindMs })
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined
      this.#tell()
    }, liveStepMs)
    this.#store.forget(toPageIndex(Math.max(1, lineCount)))
  }

  #readWanted() {
    if (this.#state.failure) return
    for (const page of this.#wanted) {
      if (this.#reading.size >= readsMax) return
      if (this.#store.isRead(page) || this.#reading.has(page) || this.#isInStream(page)) continue
      void this.#readPage(page).catch((error: unknown) => this.#fail(error))
    }
  }

  /** true: the store has all lines of the page, because the stream delivered them. */
  #isInStream(page: number): boolean {
    const last = Math.min((page + 1) * linesPerPage, this.#state.lineCount)
    for (let number = last; number > page * linesPerPage; number--) if (!this.#store.line(number)) return false
    return true
  }

  async #readPage(page: number): Promise<void> {
    this.#reading.add(page)
    const end = (page + 1) * linesPerPage
    try {
      for (let from = page * linesPerPage + 1; from <= end; ) {
        const lines = await this.#read({ from: { line: from }, first: end - from + 1, streams })
        this.#store.add(this.#withoutNewer(lines))
        const last = lines.at(-1)
        if (!last) break
        from = last.truncated && last.number > from ? last.number : last.number + 1
      }
      this.#store.markRead(page)
      this.#change({})
    } finally {
      this.#reading.delete(page)
      this.#store.forget(toPageIndex(Math.max(1, this.#state.lineCount)))
    }
    this.#readWanted()
  }

  /** Removes lines that the stream delivered too, because a page may have an older text of open lines. */
  #withoutNewer(lines: readonly LogRowFragment[]): LogRowFragment[] {
    return lines.filter(({ number }) => number < this.#streamFrom || !this.#store.line(number))
  }

  async #read(place: Pick<LogLinesQueryVariables, 'from' | 'first' | 'streams'>) {
    const { client, jobId, run } = this.#options
    const variables = { id: jobId, run, ...place }
    const { job } = await client.request(LogLinesDocument, variables, { ...forever, signal: this.#leave.signal })
    return job?.logs?.lines ?? []
  }

  #putGap({ startOffset, endOffset, gapReason: reason, line }: LogGapRowFragment, next: number) {
    const others = this.#state.gaps.filter((gap) => gap.startOffset !== startOffset)
    const gap = { startOffset, beforeLine: line ?? next, bytes: endOffset - startOffset, reason }
    this.#change({ gaps: [...others, gap].toSorted((a, b) => a.startOffset - b.startOffset) })
  }

  #fail(error: unknown) {
    if (this.#leave.signal.aborted) return
    const failure = toFailure(error)
    this.#change(failure.code === 'NOT_FOUND' ? { isGone: true } : { failure })
  }

  #set(change: Partial<LogState>) {
    this.#state = { ...this.#state, ...change, version: this.#state.version + 1 }
  }

  #change(change: Partial<LogState>) {
    this.#set(change)
    this.#tell()
  }

  /** Calls the listeners once per frame. */
  #tell() {
    if (this.#isScheduled) return
    this.#isScheduled = true
    this.#options.schedule(() => {
      this.#isScheduled = false
      this.#listeners.call()
    })
  }
}
