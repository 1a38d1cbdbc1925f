import { type Client, RequestFailed } from '@berth-jobs/berth/client'
import {
  type LogGapReason,
  LogLinesDocument,
  type LogRowFragment,
  type LogStream,
  LogTailDocument,
  type LogTailSubscription,
} from '../generated/graphql.ts'

export interface Line {
  number: number
  at: string
  stream: LogStream
  text: string
}

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
  /** All output of the run has arrived. */
  isFinal: boolean
  /** Every page was read: there are no other gaps. */
  isWhole: boolean
  isLoading: boolean
  failure: RequestFailed | null
  /** The job was deleted, or its log. */
  isGone: boolean
  /** Moves on with every change. */
  version: number
}

type FoundGap = Pick<Gap, 'startOffset' | 'reason'> & { endOffset: number }

interface Page {
  lines: (Line | undefined)[]
  bytes: number
  isReading: boolean
  /** The page was read; the stream feeds the last one from then on. */
  isRead: boolean
}

export interface LogLinesOptions {
  client: Pick<Client, 'request' | 'subscribe'>
  jobId: string
  run: number
  /** Runs a function before the next picture. */
  schedule: (run: () => void) => void
}

export const linesPerPage = 1_000
const bytesMax = 64 * 1024 * 1024
const streams: LogStream[] = ['STDOUT', 'STDERR', 'SYSTEM']
const forever = { attempts: Number.POSITIVE_INFINITY }
/** Two bytes for a character, and the object. */
const estimateBytes = (text: string) => 2 * text.length + 120

/**
 * The log of a run by line numbers, read in pages when they are looked at. Pages that were not used for longest are
 * forgotten. The stream of a live log feeds the end.
 */
export class LogLines {
  readonly #options: LogLinesOptions
  readonly #leave = new AbortController()
  readonly #listeners = new Set<() => void>()
  /** In the order of their last use. */
  readonly #pages = new Map<number, Page>()
  readonly #wereRead = new Set<number>()
  #bytes = 0
  #isScheduled = false
  /** Lines from here on come from the stream, which knows best where the last one ends. */
  #liveFrom = Number.POSITIVE_INFINITY
  #state: LogState = {
    lineCount: 0,
    gaps: [],
    isFinal: false,
    isWhole: false,
    isLoading: true,
    failure: null,
    isGone: false,
    version: 0,
  }

  constructor(options: LogLinesOptions) {
    this.#options = options
  }

  readonly state = (): LogState => this.#state

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  start(): void {
    this.#follow().catch((error: unknown) => this.#fail(error))
  }

  stop(): void {
    this.#leave.abort()
    this.#listeners.clear()
  }

  /** A line, if it was read. */
  line(number: number): Line | undefined {
    const index = Math.floor((number - 1) / linesPerPage)
    return this.#pages.get(index)?.lines[(number - 1) % linesPerPage]
  }

  /** Reads the pages of these lines that are not there yet. */
  show(from: number, to: number): void {
    const [first, last] = [from, to].map((number) => Math.floor((number - 1) / linesPerPage)) as [number, number]
    for (let index = Math.max(0, first); index <= last; index++) {
      const page = this.#use(index)
      if (!page.isRead && !page.isReading) void this.#readPage(index, page)
    }
    this.#forget()
  }

  /** The last lines first, because a reader of a live log wants them; then what the job prints. */
  async #follow() {
    const { client, jobId, run } = this.#options
    const { signal } = this.#leave
    const variables = { id: jobId, run, last: linesPerPage, streams }
    const { job } = await client.request(LogLinesDocument, variables, { ...forever, signal })
    if (!job) throw new RequestFailed('NOT_FOUND', `Job ${jobId} not found`)
    const { lines, gaps, cursor, isFinal } = job.logs
    this.#add(lines)
    this.#liveFrom = lines[0]?.number ?? 1
    this.#addGaps(gaps, lines)
    const lineCount = lines.at(-1)?.number ?? 0
    this.#change({ isLoading: false, isFinal, lineCount, isWhole: this.#isWhole(lineCount) })
    if (isFinal) return
    const tail = { jobId, run, after: cursor, streams }
    for await (const message of client.subscribe(LogTailDocument, tail, { signal })) this.#receive(message.tail)
    this.#change({ isFinal: true })
  }

  #receive(message: LogTailSubscription['tail']) {
    if (message.__typename === 'LogBatch') {
      this.#add(message.lines, true)
      const last = message.lines.at(-1)?.number ?? 0
      this.#change({ lineCount: Math.max(this.#state.lineCount, last), isFinal: message.isFinal })
    } else if (message.__typename === 'LogGap') this.#putGap(message, this.#state.lineCount + 1)
    else if (message.__typename === 'StreamReset')
      this.#change(message.resetReason === 'DELETED' ? { isGone: true } : { lineCount: this.#state.lineCount })
  }

  async #readPage(index: number, page: Page) {
    const { client, jobId, run } = this.#options
    page.isReading = true
    let from = index * linesPerPage + 1
    const end = from + linesPerPage
    try {
      while (from < end) {
        const variables = { id: jobId, run, fromLine: from, first: end - from, streams }
        const { job } = await client.request(LogLinesDocument, variables, { ...forever, signal: this.#leave.signal })
        const { lines = [], gaps = [] } = job?.logs ?? {}
        this.#add(lines)
        this.#addGaps(gaps, lines)
        const last = lines.at(-1)
        if (!last) break
        // A page of long lines may end within a line, which is read again.
        from = last.truncated && last.number > from ? last.number : last.number + 1
      }
      page.isRead = true
      this.#wereRead.add(index)
      const lineCount = Math.max(this.#state.lineCount, from - 1)
      this.#change({ lineCount, failure: null, isWhole: this.#isWhole(lineCount) })
    } catch (error) {
      this.#fail(error)
    } finally {
      page.isReading = false
    }
  }

  #use(index: number): Page {
    const page = this.#pages.get(index) ?? { lines: [], bytes: 0, isReading: false, isRead: false }
    this.#pages.delete(index)
    this.#pages.set(index, page)
    return page
  }

  /** Parts of a long line have its number. `isLive`: a part without an end of line goes on with the next message. */
  #add(rows: readonly LogRowFragment[], isLive = false) {
    let previous = isLive ? this.#state.lineCount : 0
    for (const { number, at, stream, text } of rows) {
      const index = Math.floor((number - 1) / linesPerPage)
      const page = this.#pages.get(index) ?? this.#use(index)
      const place = (number - 1) % linesPerPage
      const known = page.lines[place]
      if (known && !isLive && number >= this.#liveFrom) continue
      const isPart = number === previous
      const line = { number, at: known?.at ?? at, stream, text: isPart ? `${known?.text ?? ''}${text}` : text }
      page.lines[place] = line
      const bytes = estimateBytes(line.text) - (known ? estimateBytes(known.text) : 0)
      page.bytes += bytes
      this.#bytes += bytes
      previous = number
    }
  }

  /** Whether every page was read, or came with the end of the log. */
  #isWhole(lineCount: number): boolean {
    for (let index = 0; index * linesPerPage < lineCount; index++)
      if (!this.#wereRead.has(index) && index * linesPerPage + 1 < this.#liveFrom) return false
    return true
  }

  /** A page lists its gaps without their places, which shorter pages from the same line find. */
  #addGaps(gaps: readonly FoundGap[], lines: readonly LogRowFragment[]) {
    const first = lines[0]?.number ?? 1
    const last = lines.at(-1)?.number ?? first
    for (const gap of gaps) {
      if (this.#state.gaps.some(({ startOffset }) => startOffset === gap.startOffset)) continue
      this.#putGap(gap, first)
      void this.#placeGap(gap, first, last).catch((error: unknown) => this.#fail(error))
    }
  }

  async #placeGap(gap: FoundGap, first: number, last: number) {
    let [low, high] = [1, last - first + 2]
    while (low < high) {
      const count = Math.floor((low + high) / 2)
      if (await this.#isWithin(gap, first, count)) high = count
      else low = count + 1
    }
    this.#putGap(gap, first + low - 1)
  }

  async #isWithin({ startOffset }: FoundGap, fromLine: number, first: number): Promise<boolean> {
    const { client, jobId, run } = this.#options
    const variables = { id: jobId, run, fromLine, first, streams }
    const { job } = await client.request(LogLinesDocument, variables, { ...forever, signal: this.#leave.signal })
    return job?.logs.gaps.some((gap) => gap.startOffset === startOffset) ?? false
  }

  #putGap({ startOffset, endOffset, reason }: FoundGap, beforeLine: number) {
    const others = this.#state.gaps.filter((gap) => gap.startOffset !== startOffset)
    const gap = { startOffset, beforeLine, bytes: endOffset - startOffset, reason }
    this.#change({ gaps: [...others, gap].toSorted((a, b) => a.startOffset - b.startOffset) })
  }

  #forget() {
    for (const [index, page] of this.#pages) {
      if (this.#bytes <= bytesMax) return
      if (page.isReading) continue
      this.#pages.delete(index)
      this.#bytes -= page.bytes
    }
  }

  #fail(error: unknown) {
    if (this.#leave.signal.aborted) return
    const failure = error instanceof RequestFailed ? error : new RequestFailed('INTERNAL', String(error))
    this.#change(failure.code === 'NOT_FOUND' ? { isGone: true, isLoading: false } : { failure, isLoading: false })
  }

  /** Listeners are called once per picture. */
  #change(change: Partial<LogState>) {
    this.#state = { ...this.#state, ...change, version: this.#state.version + 1 }
    if (this.#isScheduled) return
    this.#isScheduled = true
    this.#options.schedule(() => {
      this.#isScheduled = false
      for (const listener of this.#listeners) listener()
    })
  }
}
