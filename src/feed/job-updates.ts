import { maySee, type Viewer } from '../domain/access.ts'
import type { JobRow } from '../domain/submission/stored-job.ts'
import { getHeartbeatDueMs } from '../platform/heartbeat.ts'
import { readIfAvailable, readWhenAvailable, retryMs } from '../platform/read-if-available.ts'
import {
  type FeedEntry,
  type FeedEvent,
  type FeedRange,
  isDeletion,
  isEvent,
  markEntry,
  readFeedRange,
  readPage,
} from './event.ts'
import { readJobsOnNode, type StateMoment, type StoredReason } from './facts.ts'
import { type CompiledFilter, compileFilter, isMove, type JobFilter, toMoment } from './filter.ts'
import {
  type FeedRooms,
  type Heartbeat,
  heartbeat,
  makeHeartbeatIfDue,
  messageEventsMax,
  type Reset,
  type SharedReads,
  type Transitions,
} from './message.ts'
import { readTold, type Told, type ToldLog } from './told.ts'

/**
 * Streams the events of all jobs that the viewer may see and the filter admits before or after the event, so that a
 * list sees a job leave. Deletions of such jobs are included. A message has consecutive positions of one job, or
 * deletions. The cursor also advances over omitted events. Events of a deleted job are omitted: its deletion follows.
 */

export type JobUpdatesMessage = Transitions | Reset | Heartbeat

export interface JobUpdatesOptions {
  viewer: Viewer
  filter?: JobFilter | undefined
  /** Position of the reader's last event; absent: only new events are sent. */
  after?: number | undefined
  mark?: string | undefined
  /** Whether changes without an event are sent as well. */
  progress?: boolean | undefined
  /** Time of the newest change without an event that the reader knows. */
  toldMs?: number | undefined
}

interface Admitted {
  entries: ReadonlySet<FeedEntry>
  rows: ReadonlyMap<string, JobRow>
  /** Jobs with a live run on the node of the filter; null: the filter has no node. */
  onNode: ReadonlyMap<string, boolean> | null
}

const batchEntriesMax = 500

export class JobUpdatesReader {
  readonly #rooms: FeedRooms
  readonly #viewer: Viewer
  readonly #filter: CompiledFilter
  readonly #after: number | undefined
  readonly #signal: AbortSignal
  #shared: SharedReads
  /** The reader's position in the log of changes without an event; null: the reader does not want them. */
  #told: { log: ToldLog; number: number; isBehind: boolean } | null = null
  #toldMs: number | undefined
  /** The REPLAY ends at this position. */
  #head = 0
  #cursor = 0
  #mark: string | undefined
  #lastSent: number

  constructor(rooms: FeedRooms, options: JobUpdatesOptions, signal: AbortSignal) {
    const { viewer, filter, after, mark, progress, toldMs } = options
    this.#rooms = rooms
    this.#shared = rooms.join()
    this.#viewer = viewer
    this.#filter = compileFilter(filter ?? {})
    this.#after = after
    this.#signal = signal
    this.#cursor = after ?? 0
    this.#mark = mark
    if (progress) {
      this.#toldMs = toldMs ?? rooms.time.nowMs()
      this.#joinTold()
    }
    this.#lastSent = rooms.clock.monotonicMs()
  }

  async *messages(left: () => void): AsyncGenerator<JobUpdatesMessage, void, void> {
    try {
      for await (const message of this.#all()) {
        this.#lastSent = this.#rooms.clock.monotonicMs()
        yield message
      }
    } finally {
      this.#told?.log.leave(this)
      left()
    }
  }

  async *#all(): AsyncGenerator<JobUpdatesMessage, void, void> {
    const range = await this.#range(this.#after)
    const reset = range && this.#beginIn(range)
    const { ring } = this.#shared
    if (ring.after(this.#cursor, 1)?.length) await ring.compare(this.#signal)
    if (reset) yield reset
    while (!this.#signal.aborted) {
      const entries = await readIfAvailable(this.#rooms.log, () => this.#nextEntries())
      const admitted = entries && (await readIfAvailable(this.#rooms.log, () => this.#admit(entries)))
      if (this.#shared.ring.isReplaced) yield* this.#beginAgain()
      else if (!entries || !admitted) await this.#wait(retryMs)
      else if (entries.length > 0) yield* withPages([...this.#send(entries, admitted)])
      else if (this.#hasTold()) yield* this.#sendTold()
      else if (!this.#shared.ring.after(this.#cursor, 1)?.length) await this.#wait()
      const heartbeat = makeHeartbeatIfDue(this.#rooms, this.#lastSent, this.#place)
      if (heartbeat) yield heartbeat
    }
  }

  /** Returns undefined if the reader left. */
  #range(after?: number): Promise<FeedRange | undefined> {
    return readWhenAvailable(this.#rooms, this.#signal, () => readFeedRange(this.#rooms.db.sql, after))
  }

  /** Restarts the stream, because the database lacks events that were already sent. */
  async *#beginAgain(): AsyncGenerator<Reset, void, void> {
    this.#shared = this.#rooms.join()
    if (this.#told) this.#joinTold()
    const range = await this.#range()
    if (!range) return
    this.#head = range.head
    this.#cursor = range.head
    this.#mark = range.mark
    yield { kind: 'reset', reason: 'RETENTION', jobIds: [], ...this.#place }
  }

  /** Returns a reset if events after the reader's cursor are missing. */
  #beginIn({ head, forgotten, mark }: FeedRange): Reset | undefined {
    const after = this.#after ?? head
    const isOfOther = this.#mark !== undefined && mark !== undefined && this.#mark !== mark
    this.#head = head
    this.#cursor = after
    this.#mark = mark
    if (!isOfOther && forgotten <= after && after <= head) return undefined
    this.#cursor = after < forgotten ? forgotten : head
    this.#mark = undefined
    return { kind: 'reset', reason: 'RETENTION', jobIds: [], cursor: this.#cursor }
  }

  async #nextEntries(): Promise<readonly FeedEntry[]> {
    const { ring } = this.#shared
    const live = ring.after(this.#cursor, batchEntriesMax)
    if (live) return live
    const { start } = ring
    const { head, before, entries: stored } = await readPage(this.#rooms.db.sql, this.#cursor, batchEntriesMax)
    const isAnother = before?.position === this.#cursor && this.#mark !== undefined && before.mark !== this.#mark
    if (head < this.#cursor || isAnother) ring.replace()
    // The ring lacks only entries stored before it began. Events of a deleted job no longer exist in the database.
    if (stored.length === 0 && start !== undefined && start > this.#cursor) {
      this.#cursor = start
      this.#mark = undefined
    }
    return stored.length === 0 ? (ring.after(this.#cursor, batchEntriesMax) ?? []) : stored
  }

  async #admit(entries: readonly FeedEntry[]): Promise<Admitted> {
    const events = entries.filter(isEvent)
    const jobs = await this.#shared.facts(events.map(({ jobId }) => jobId))
    const ofJobs = entries.filter((entry) => {
      const job = isDeletion(entry) ? entry.facts : jobs.get(entry.jobId)
      return job !== undefined && maySee(this.#viewer, job) && this.#filter.admitsJob(job)
    })
    const matching = this.#filter.asksState ? await this.#inAdmittedState(ofJobs) : ofJobs
    const ofJob = matching.filter(isEvent)
    const onNode = await this.#onNode(ofJob)
    const rows = await this.#rowsOf(ofJob.filter(({ jobId }) => onNode === null || onNode.has(jobId)))
    const told = matching.filter((entry) => {
      const job = isDeletion(entry) ? entry : rows.get(entry.jobId)
      return job !== undefined && this.#filter.admitsStart(job.startedAt)
    })
    return { entries: new Set(told), rows, onNode }
  }

  async #inAdmittedState(entries: readonly FeedEntry[]): Promise<readonly FeedEntry[]> {
    const unclear = entries.filter(isEvent).filter((event) => this.#filter.asksReason || !isMove(event))
    const still = await this.#shared.moments(unclear)
    // The events of a deleted job are gone, so its earlier states are unknown: each deletion is reported.
    return entries.filter(
      (entry) =>
        isDeletion(entry) ||
        getMomentsAround(entry, still).some((moment) => moment && this.#filter.admitsMoment(moment)),
    )
  }

  async #onNode(events: readonly { jobId: string }[]): Promise<Admitted['onNode']> {
    const { node } = this.#filter
    if (node === null || events.length === 0) return null
    return readJobsOnNode(this.#rooms.db.sql, [...new Set(events.map(({ jobId }) => jobId))], node)
  }

  /** Reads job rows that are at least as new as these events. Omits deleted jobs. */
  async #rowsOf(events: readonly FeedEvent[]): Promise<ReadonlyMap<string, JobRow>> {
    const newest = new Map(events.map(({ jobId, seq }) => [jobId, seq]))
    const rows = await Promise.all([...newest].map(([jobId, version]) => this.#shared.rows.at(jobId, { version })))
    return new Map(rows.flatMap((row) => (row ? [[row.id, row] as const] : [])))
  }

  *#send(entries: readonly FeedEntry[], admitted: Admitted): Generator<Transitions | Reset, void, void> {
    let together: FeedEntry[] = []
    for (const [index, entry] of entries.entries()) {
      const isAdmitted = admitted.entries.has(entry)
      if (isAdmitted) together.push(entry)
      this.#cursor = entry.position ?? this.#cursor
      this.#mark = markEntry(entry)
      const next = entries[index + 1]
      const goesOn = next && admitted.entries.has(next) && together.length < messageEventsMax
      if (together.length === 0 || (isAdmitted && goesOn && this.#continues(entry, next))) continue
      yield this.#message(together, admitted)
      together = []
    }
  }

  #continues(entry: FeedEntry, next: FeedEntry): boolean {
    if (isDeletion(entry) || isDeletion(next)) return isDeletion(entry) && isDeletion(next)
    const bothReplay = this.#isReplay(entry) === this.#isReplay(next)
    return next.jobId === entry.jobId && next.position === (entry.position ?? 0) + 1 && bothReplay
  }

  #isReplay({ position }: FeedEntry): boolean {
    return (position ?? 0) <= this.#head
  }

  #message(entries: readonly FeedEntry[], { rows, onNode }: Admitted): Transitions | Reset {
    const events = entries.filter(isEvent)
    const [first] = events
    const job = first && rows.get(first.jobId)
    if (!first || !job)
      return { kind: 'reset', reason: 'DELETED', jobIds: entries.map(({ jobId }) => jobId), ...this.#place }
    const phase = this.#isReplay(first) ? 'REPLAY' : 'LIVE'
    return this.#transitions(job, { events, phase, matches: this.#matches(job, onNode) })
  }

  #transitions(job: JobRow, about: Pick<Transitions, 'events' | 'phase' | 'matches'>): Transitions {
    const place = this.#place
    const instead = heartbeat(this.#rooms.time, place)
    return { kind: 'transitions', jobId: job.id, job, ...about, ...place, isFinal: false, instead }
  }

  #matches(job: JobRow, onNode: Admitted['onNode']): boolean {
    const moment = { state: job.state, reason: job.stateReason as StoredReason | null, finishedAt: job.finishedAt }
    const isAdmitted = this.#filter.admitsMoment(moment) && this.#filter.admitsStart(job.startedAt)
    return isAdmitted && (onNode === null || onNode.get(job.id) === true)
  }

  /** The log may begin later than the reader, so the database is read for older changes. */
  #joinTold(): void {
    this.#told?.log.leave(this)
    const log = this.#shared.ring.told
    log.join(this)
    this.#told = { log, number: log.newest, isBehind: true }
  }

  #hasTold(): boolean {
    return this.#told !== null && (this.#told.isBehind || this.#told.log.newest > this.#told.number)
  }

  async *#sendTold(): AsyncGenerator<Transitions, void, void> {
    const messages = await readIfAvailable(this.#rooms.log, () => this.#toldMessages())
    if (messages) yield* messages
    else await this.#wait(retryMs)
  }

  /** Reads messages of changes without an event, the oldest first. */
  async #toldMessages(): Promise<readonly Transitions[]> {
    const place = this.#told
    if (!place) return []
    const { newest } = place.log
    const told = place.isBehind ? await readTold(this.#rooms.db, this.#toldMs ?? 0) : place.log.after(place.number)
    const jobs = await this.#shared.facts(told.map(({ jobId }) => jobId))
    const admitted = told.filter(({ jobId }) => {
      const job = jobs.get(jobId)
      return job !== undefined && maySee(this.#viewer, job) && this.#filter.admitsJob(job)
    })
    const read = ({ jobId, at }: Told) => this.#shared.rows.at(jobId, { version: 1, toldMs: at.getTime() })
    const rows = await Promise.all(admitted.map(read))
    const onNode = await this.#onNode(admitted)
    place.number = place.isBehind ? place.number : newest
    place.isBehind = false
    const messages = admitted.flatMap(({ at }, index) => {
      this.#toldMs = Math.max(this.#toldMs ?? 0, at.getTime())
      const job = rows[index]
      return job && this.#matches(job, onNode)
        ? this.#transitions(job, { events: [], phase: 'LIVE', matches: true })
        : []
    })
    this.#toldMs = Math.max(this.#toldMs ?? 0, told.at(-1)?.at.getTime() ?? 0)
    return messages
  }

  get #place() {
    return { cursor: this.#cursor, mark: this.#mark, ...(this.#told && { toldMs: this.#toldMs }) }
  }

  async #wait(msMax = Number.POSITIVE_INFINITY): Promise<void> {
    if (this.#shared.ring.isReplaced) return
    const due = getHeartbeatDueMs(this.#lastSent) - this.#rooms.clock.monotonicMs()
    await this.#shared.ring.bell.wait(Math.min(msMax, due), this.#signal)
  }
}

function withPages(messages: readonly JobUpdatesMessage[]): readonly JobUpdatesMessage[] {
  const page = messages.filter(
    (message): message is Transitions => message.kind === 'transitions' && message.phase === 'REPLAY',
  )
  for (const message of page) message.page = page
  return messages
}

/** Returns the states before and after an event. `before` has the states before events that do not change the state. */
function getMomentsAround(
  event: FeedEvent,
  before: ReadonlyMap<FeedEvent, StateMoment>,
): readonly (StateMoment | undefined)[] {
  const { type, from, to, reason, at } = event
  const last = before.get(event) ?? (from === null ? undefined : toMoment(from, null, at))
  if (isMove(event)) return [last, to === null ? undefined : toMoment(to, reason, at)]
  const isPreemption = type === 'PREEMPT_REQUESTED' || type === 'PREEMPT_WITHDRAWN'
  return isPreemption ? [last, last && { ...last, reason }] : [last]
}
