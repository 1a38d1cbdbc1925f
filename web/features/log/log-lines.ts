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
import { allStreams, type Line, LineStore, linesPerPage, pageOf } from './line-store.ts'

export interface Gap {
  /** Of the bytes of the run; names the gap. */
  startOffset: number
  /** The gap lies before this line. */
  beforeLine: number
  bytes: number
  reason: LogGapReason
}

export interface LogState {
  /** Lines of the run that are known to exist. */
  lineCount: number
  gaps: readonly Gap[]
  /** Bytes of the output with its gaps, all of which are known; null: not known yet. */
  bytes: number | null
  /** All output of the run has arrived. */
  isFinal: boolean
  /** How late the newest live line arrived. */
  behindMs: number | null
  failure: RequestFailed | null
  /** The job was deleted, or its log. */
  isGone: boolean
  /** Moves on with every change. */
  version: number
}

interface LogLinesOptions {
  client: Pick<Client, 'request' | 'tail'>
  jobId: string
  run: number
  /** Lines that the run had when the page was opened: pages are read before the end of the log is known. */
  lineCount: number
  nowMs: () => number
  /** Runs a function before the next picture. */
  schedule: (run: () => void) => void
}

const streams = [...allStreams]
const documents = { tail: LogTailDocument, page: LogLinesDocument, first: 1_000 }
const lastLines = 100
const sparseLines = 200
/** Pages that are read at a time, so that a dragged bar does not ask for all that it passes. */
const readsMax = 2
const forever = { attempts: Number.POSITIVE_INFINITY }

/**
 * The log of a run by line numbers, read in pages when they are looked at. The stream of a live log feeds the end.
 */
export class LogLines {
  readonly #options: LogLinesOptions
  readonly #leave = new AbortController()
  readonly #listeners = createListeners()
  readonly #store = new LineStore()
  readonly #reading = new Set<number>()
  /** Reads for the lines in sight, in their order of need. */
  #wanted: readonly number[] = []
  #isScheduled = false
  #isFollowing = false
  /** Lines from here on came with the end of the log or its stream, which knows most of open lines. */
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

  /** Starts, or goes on after a failure. */
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
    this.#listeners.clear()
  }

  /** A line, if it was read. */
  line(number: number): Line | undefined {
    return this.#store.line(number)
  }

  /** A line that was read begins or ends a group. */
  get hasMarks(): boolean {
    return this.#store.hasMarks
  }

  /** Reads the pages of these lines that are not there yet; earlier wishes that did not begin are dropped. */
  show(numbers: readonly number[]): void {
    const known = numbers.filter((number) => number <= this.#state.lineCount)
    this.#wanted = [...new Set(known.map(pageOf))]
    for (const page of this.#wanted) this.#store.use(page)
    this.#readWanted()
  }

  /** Reads lines of some streams that lie far from each other. */
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

  /** Texts of a range of lines, also of those that were not read. */
  async readTexts(from: number, to: number): Promise<string[]> {
    const texts: string[] = []
    for (let number = from; number <= to; number++) {
      const page = pageOf(number)
      if (!this.#store.line(number) && !this.#store.isRead(page)) await this.#readPage(page)
      texts.push(this.#store.line(number)?.text ?? '')
    }
    return texts
  }

  /** The first line that was stored at a moment or later. */
  async findFirstLineAt(at: string): Promise<number | null> {
    const { client, jobId, run } = this.#options
    const { signal } = this.#leave
    const { job } = await client.request(FindMomentDocument, { id: jobId, run, at, streams }, { ...forever, signal })
    return job?.logs?.firstLine ?? null
  }

  /** The last lines first, because a reader of a live log wants them; then what the job prints. */
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

  /** true: the log is another one now, and is read from its beginning. */
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
    for (const { number } of message.lines.filter(isUnknown)) this.#store.drop(pageOf(number))
    this.#store.add(
      message.lines.filter((row) => !isUnknown(row)),
      lineCount,
    )
    const last = message.lines.at(-1)
    const behindMs = last ? Math.max(0, this.#options.nowMs() - Date.parse(last.at)) : this.#state.behindMs
    const newest = message.lines.reduce((most, { number }) => Math.max(most, number), lineCount)
    this.#change({ lineCount: newest, behindMs })
    this.#store.forget(pageOf(Math.max(1, lineCount)))
  }

  #readWanted() {
    if (this.#state.failure) return
    for (const page of this.#wanted) {
      if (this.#reading.size >= readsMax) return
      if (this.#store.isRead(page) || this.#reading.has(page) || this.#isInStream(page)) continue
      void this.#readPage(page).catch((error: unknown) => this.#fail(error))
    }
  }

  /** All lines of the page are there already. */
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
      this.#store.forget(pageOf(Math.max(1, this.#state.lineCount)))
    }
    this.#readWanted()
  }

  /** Without lines of the stream, which knows more of those that were open when the page was read. */
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

  /** Listeners are called once per picture. */
  #change(change: Partial<LogState>) {
    this.#state = { ...this.#state, ...change, version: this.#state.version + 1 }
    if (this.#isScheduled) return
    this.#isScheduled = true
    this.#options.schedule(() => {
      this.#isScheduled = false
      this.#listeners.call()
    })
  }
}
