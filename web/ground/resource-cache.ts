import type { RequestFailed } from '@berth-jobs/berth/client'
import { createListeners } from './store.ts'
import { toFailure } from './to-failure.ts'

export interface ResourceState<Value> {
  /** The value of the last successful read. */
  value: Value | undefined
  failure: RequestFailed | null
  /** true: no read has succeeded or failed yet. */
  isLoading: boolean
}

/**
 * Reads a value. A load that follows a stream passes each value to `put` until the stream ends or `signal` aborts.
 * `before` is the value that is already cached.
 */
export type Load<Value> = (
  signal: AbortSignal,
  put: (value: Value) => void,
  before: Value | undefined,
) => Promise<Value | undefined>

/** How a view that shows the value reads it. */
export interface Reader<Value> {
  load: Load<Value>
  everyMs: number | undefined
  /** Minimum time from the end of a read to the next one that `read()` starts. */
  pauseMs: number
}

export const unread: ResourceState<never> = { value: undefined, failure: null, isLoading: true }

interface Surroundings {
  isHidden(): boolean
  /** Called when a read fails and will be retried, and with null when the retries end. */
  noteRepeated(entry: object, failure: RequestFailed | null): void
}

const retryMs = [1_000, 2_000, 4_000, 8_000, 15_000]
/** Maximum number of values that are kept without a view, so that going back shows them at once. */
const keptEntriesMax = 60

/** A cached value. It is read once for all views that show it, and kept for later views. */
class Entry<Value> {
  state: ResourceState<Value> = unread
  readonly #surroundings: Surroundings
  readonly #onUse: (isUsed: boolean) => void
  readonly #listeners = createListeners()
  readonly #readers = new Set<Reader<Value>>()
  #reading: AbortController | undefined
  #endedMs = Number.NEGATIVE_INFINITY
  /** true: the value must be read again after the current read. */
  #isStale = false
  /** true: the next read was due while the page was hidden. */
  #isDue = false
  #timer: ReturnType<typeof setTimeout> | undefined
  #tries = 0

  constructor(surroundings: Surroundings, onUse: (isUsed: boolean) => void) {
    this.#surroundings = surroundings
    this.#onUse = onUse
  }

  /** Adds a view, and reads the value unless a read is running. The returned function removes the view. */
  use(reader: Reader<Value>, listener: () => void): () => void {
    this.#readers.add(reader)
    const unsubscribe = this.#listeners.add(listener)
    this.#onUse(true)
    if (!this.#reading) this.#start()
    return () => {
      this.#readers.delete(reader)
      unsubscribe()
      // The next view may add itself in the same React commit, and then the value is still in use.
      queueMicrotask(() => this.#readers.size === 0 && this.#stop())
    }
  }

  /** Reads again, after `pauseMs`. If a read is running, it may miss the change, so another read follows it. */
  readonly read = (): void => {
    if (this.#reading) this.#isStale = true
    else this.#startIn(this.#endedMs + this.#pauseMs - performance.now())
  }

  /** Starts a scheduled read now. */
  hurry(): void {
    this.#tries = 0
    if (this.#timer !== undefined || this.#isDue) this.#start()
  }

  /** Starts the read that was due while the page was hidden. */
  resume(): void {
    if (this.#isDue) this.#start()
  }

  get #pauseMs() {
    return Math.min(...[...this.#readers].map(({ pauseMs }) => pauseMs))
  }

  #startIn(ms: number) {
    this.#clearTimer()
    if (ms > 0 && Number.isFinite(ms)) this.#timer = setTimeout(() => this.#startIn(0), ms)
    else if (ms <= 0 && this.#surroundings.isHidden()) this.#isDue = true
    else if (ms <= 0) this.#start()
  }

  #start() {
    const reader = [...this.#readers].at(-1)
    this.#clearTimer()
    if (!reader) return
    this.#isStale = false
    const reading = new AbortController()
    this.#reading = reading
    const show = (value: Value | undefined) => {
      if (!reading.signal.aborted && value !== undefined) this.#show(value)
    }
    reader.load(reading.signal, show, this.state.value).then(
      (value) => {
        show(value)
        if (!reading.signal.aborted)
          this.#end(Math.min(...[...this.#readers].map(({ everyMs = Number.POSITIVE_INFINITY }) => everyMs)))
      },
      (error: unknown) => {
        if (!reading.signal.aborted) this.#fail(toFailure(error))
      },
    )
  }

  #show(value: Value) {
    this.#tries = 0
    this.#surroundings.noteRepeated(this, null)
    this.#change({ value, failure: null, isLoading: false })
  }

  #fail(failure: RequestFailed) {
    this.#surroundings.noteRepeated(this, failure.retryable ? failure : null)
    this.#change({ ...this.state, failure, isLoading: false })
    const waitMs = retryMs[Math.min(this.#tries++, retryMs.length - 1)] ?? 0
    this.#end(failure.retryable ? waitMs : Number.POSITIVE_INFINITY)
  }

  #end(waitMs: number) {
    this.#reading = undefined
    this.#endedMs = performance.now()
    this.#startIn(this.#isStale ? this.#pauseMs : waitMs)
  }

  #change(state: ResourceState<Value>) {
    this.state = state
    this.#listeners.call()
  }

  #clearTimer() {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#isDue = false
  }

  #stop() {
    this.#reading?.abort()
    this.#reading = undefined
    this.#clearTimer()
    this.#surroundings.noteRepeated(this, null)
    this.state = { ...this.state, failure: null }
    this.#onUse(false)
  }
}

export class ResourceCache {
  readonly #surroundings: Surroundings
  readonly #entries = new Map<string, Entry<unknown>>()
  /** Keys of the entries without a view, in the order in which they lost their last view. */
  readonly #kept = new Set<string>()

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings
  }

  state(key: string): ResourceState<unknown> {
    return this.#entries.get(key)?.state ?? unread
  }

  use(key: string, reader: Reader<unknown>, listener: () => void): () => void {
    const entry = this.#entries.get(key) ?? new Entry(this.#surroundings, (isUsed) => this.#note(key, isUsed))
    this.#entries.set(key, entry)
    return entry.use(reader, listener)
  }

  read(key: string): void {
    if (!this.#kept.has(key)) this.#entries.get(key)?.read()
  }

  /** Starts all scheduled reads now, after an outage. */
  hurry(): void {
    for (const entry of this.#entries.values()) entry.hurry()
  }

  /** The page is visible again. */
  resume(): void {
    for (const entry of this.#entries.values()) entry.resume()
  }

  #note(key: string, isUsed: boolean) {
    this.#kept.delete(key)
    if (isUsed) return
    this.#kept.add(key)
    if (this.state(key).value === undefined) this.#forget(key)
    const [oldest] = this.#kept
    if (this.#kept.size > keptEntriesMax && oldest !== undefined) this.#forget(oldest)
  }

  #forget(key: string) {
    this.#kept.delete(key)
    this.#entries.delete(key)
  }
}
