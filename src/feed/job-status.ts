import { maySee, type Viewer } from '../domain/access.ts'
import { jobNotFound } from '../domain/errors.ts'
import { isFinal, type JobState } from '../domain/state.ts'
import type { Db } from '../platform/db.ts'
import { getHeartbeatDueMs } from '../platform/heartbeat.ts'
import { readIfAvailable, readWhenAvailable, retryMs } from '../platform/read-if-available.ts'
import { type FeedEvent, markEntry, readJobEventsAfter } from './event.ts'
import {
  type FeedRooms,
  type Heartbeat,
  makeHeartbeatIfDue,
  messageEventsMax,
  type Reset,
  type SharedReads,
  type Transitions,
} from './message.ts'
import type { WatchedJob } from './ring.ts'

/**
 * Streams the events of one job: first stored ones (REPLAY), after a cursor or from the event that led to the current
 * state, then new ones (LIVE). The stream ends with the event that ends the job. Progress, and the reason why a run
 * does not begin, are sent as messages without events.
 */

export type JobStatusMessage = Transitions | Reset | Heartbeat

/** A message of events whose job is not read yet. */
type Draft = Omit<Transitions, 'job' | 'matches' | 'instead'>

export interface JobStatusOptions {
  viewer: Viewer
  jobId: string
  /** Number (`seq`) of the reader's last event. */
  after?: number | undefined
  mark?: string | undefined
}

export interface JobOpening {
  jobId: string
  version: number
  state: JobState
  /** Number (`seq`) of the event that led to `state`; null: retention removed it. */
  stateSeq: number | null
  toldAt: Date | null
  /** Time of the event at the reader's cursor; null: the reader has no cursor, or the event was deleted. */
  cursorAt: Date | null
}

/** Throws NotFound if the viewer may not see the job. */
export async function openJob(db: Db, { viewer, jobId, after }: JobStatusOptions): Promise<JobOpening> {
  const job = await readOpening(db, jobId, after)
  if (!job || !maySee(viewer, job)) throw jobNotFound(jobId)
  return job
}

async function readOpening(db: Db, jobId: string, after = 0): Promise<(JobOpening & { userId: string }) | null> {
  const [job] = await db.sql.query<JobOpening & { userId: string }>(openSql, [jobId, after], 'feed_open_job')
  return job ?? null
}

const openSql = `
SELECT job.id AS "jobId", job.user_id AS "userId", job.version, job.state, job.told_at AS "toldAt",
  (SELECT max(seq) FROM event WHERE job_id = job.id AND to_state = job.state AND from_state IS DISTINCT FROM to_state) AS "stateSeq",
  (SELECT at FROM event WHERE job_id = job.id AND seq = $2) AS "cursorAt"
FROM job WHERE job.id = $1`

function markAt({ jobId, cursorAt }: JobOpening, seq: number | undefined): string | undefined {
  return seq === undefined || cursorAt === null ? undefined : markEntry({ jobId, seq, at: cursorAt })
}

type StatusStart = Pick<JobStatusOptions, 'after' | 'mark'> & { signal: AbortSignal }

/** Takes events from the ring, or older ones from the database. Waits for further events. */
export class JobStatusReader {
  readonly #rooms: FeedRooms
  readonly #signal: AbortSignal
  #opening: JobOpening
  #shared: SharedReads
  #job: WatchedJob
  /** Whether the stream begins with the event that led to the current state. */
  #begins: boolean
  /** Whether the reader's cursor is at an event that this database does not have. */
  readonly #isOfOther: boolean
  #cursor: number
  #mark: string | undefined
  #toldMs: number
  #lastSent: number
  #first = true
  #done = false
  /** Whether the database may have events that the ring lacks. */
  #behind = true

  constructor(rooms: FeedRooms, opening: JobOpening, { after, mark, signal }: StatusStart) {
    this.#rooms = rooms
    this.#opening = opening
    this.#signal = signal
    this.#shared = rooms.join()
    this.#job = this.#shared.ring.watch(opening.jobId)
    const stored = markAt(opening, after)
    const isAnother = mark !== undefined && stored !== undefined && mark !== stored
    this.#isOfOther = after !== undefined && (after > opening.version || isAnother)
    this.#begins = after === undefined || this.#isOfOther
    this.#cursor = after === undefined || this.#isOfOther ? seqBeforeState(opening) : after
    this.#mark = this.#isOfOther ? undefined : stored
    this.#toldMs = opening.toldAt?.getTime() ?? 0
    this.#lastSent = rooms.clock.monotonicMs()
  }

  async *messages(left: () => void): AsyncGenerator<JobStatusMessage, void, void> {
    const { state, stateSeq } = this.#opening
    try {
      // Another reader of the job has taken these events from the ring.
      if (this.#job.events.length > 0 || this.#job.gone) await this.#shared.ring.compare(this.#signal)
      if (this.#isOfOther || (stateSeq === null && (this.#begins || isFinal(state)))) yield this.#reset('RETENTION')
      while (!this.#done && !this.#signal.aborted) {
        const isReplaced = () => this.#shared.ring.isReplaced
        const read = isReplaced() ? undefined : await this.#message()
        const message = isReplaced() ? await this.#beginAgain() : read
        if (!message) continue
        this.#first &&= message.kind !== 'transitions'
        this.#lastSent = this.#rooms.clock.monotonicMs()
        yield message
      }
    } finally {
      this.#shared.ring.unwatch(this.#job)
      left()
    }
  }

  /** Restarts the stream: the database lacks events that were already sent. undefined: the reader left. */
  async #beginAgain(): Promise<Reset | undefined> {
    const { jobId } = this.#job
    this.#shared.ring.unwatch(this.#job)
    this.#shared = this.#rooms.join()
    this.#job = this.#shared.ring.watch(jobId)
    const opening = await readWhenAvailable(this.#rooms, this.#signal, () => readOpening(this.#rooms.db, jobId))
    return opening ? this.#beginWith(opening) : opening === null ? this.#deleted() : undefined
  }

  #beginWith(opening: JobOpening): Reset {
    this.#opening = opening
    this.#begins = true
    this.#cursor = seqBeforeState(opening)
    this.#mark = undefined
    this.#toldMs = opening.toldAt?.getTime() ?? 0
    this.#first = true
    this.#done = false
    this.#behind = true
    return this.#reset('RETENTION')
  }

  async #message(): Promise<JobStatusMessage | undefined> {
    const next = await this.#next()
    if (next?.kind === 'transitions') return this.#withJob(next)
    return next ?? makeHeartbeatIfDue(this.#rooms, this.#lastSent, this.#place)
  }

  /** Returns the next message, or undefined to check again. */
  async #next(): Promise<Draft | Reset | undefined> {
    if (this.#isOver()) return this.#transitions([], true)
    const events = this.#fromRing() ?? (await this.#fromDatabase())
    if (events === undefined) return this.#wait(retryMs)
    if (events === null) return this.#deleted()
    const [next] = events
    if (next && next.seq > this.#cursor + 1) {
      this.#cursor = next.seq - 1
      this.#mark = undefined
      this.#behind = true
      return this.#reset('RETENTION')
    }
    if (next) return this.#take(events)
    if (this.#first) return this.#transitions([], false)
    if (this.#hasNews()) return undefined
    if (this.#job.gone) return this.#deleted()
    return this.#told() ?? this.#wait()
  }

  #isOver(): boolean {
    const { state, stateSeq } = this.#opening
    return isFinal(state) && (stateSeq === null || this.#cursor >= stateSeq)
  }

  /** Whether events arrived during the last read, when the reader was not waiting for the bell. */
  #hasNews(): boolean {
    const newest = this.#job.events.at(-1)?.seq ?? 0
    return newest > this.#cursor || (this.#behind && this.#shared.ring.start !== undefined)
  }

  #fromRing(): FeedEvent[] | null {
    if (this.#behind) return null
    const events = this.#job.events.filter(({ seq }) => seq > this.#cursor)
    return events[0] && events[0].seq > this.#cursor + 1 ? null : events
  }

  async #fromDatabase(): Promise<FeedEvent[] | null | undefined> {
    const { db, log } = this.#rooms
    const { ring } = this.#shared
    // Later events are in the ring. If the ring was not ready yet, the database is read again.
    const ready = ring.start !== undefined
    const page = { jobId: this.#job.jobId, seq: this.#cursor, limit: messageEventsMax }
    const events = await readIfAvailable(log, () => readJobEventsAfter(db.sql, page))
    if (events) this.#behind = !ready || events.length === messageEventsMax
    return events
  }

  #take(events: readonly FeedEvent[]): Draft {
    const { version } = this.#opening
    const replay = events.filter(({ seq }) => seq <= version)
    const alike = replay.length > 0 ? replay : events
    const end = alike.findIndex(endsJob) + 1
    const taken = alike.slice(0, this.#first && this.#begins ? 1 : end || messageEventsMax)
    const last = taken.at(-1)
    if (last) {
      this.#cursor = last.seq
      this.#mark = markEntry(last)
    }
    this.#behind ||= taken.length < events.length
    return this.#transitions(taken, taken.some(endsJob))
  }

  #transitions(events: readonly FeedEvent[], final: boolean): Draft {
    this.#done = final
    const replay =
      this.#first ||
      (final && isFinal(this.#opening.state)) ||
      (events[0]?.seq ?? Number.POSITIVE_INFINITY) <= this.#opening.version
    return {
      kind: 'transitions',
      jobId: this.#job.jobId,
      events,
      ...this.#place,
      phase: replay ? 'REPLAY' : 'LIVE',
      isFinal: final,
    }
  }

  /** Returns undefined if the reader left. */
  async #withJob(draft: Draft): Promise<Transitions | Reset | undefined> {
    const wanted = { version: this.#cursor, toldMs: this.#toldMs }
    const read = () => this.#shared.rows.at(draft.jobId, wanted)
    const job = await readWhenAvailable(this.#rooms, this.#signal, read)
    if (job === null) return this.#deleted()
    return job && { ...draft, job, matches: true, instead: this.#reset('DELETED') }
  }

  #told(): Draft | undefined {
    const toldMs = this.#job.toldAt?.getTime() ?? 0
    if (toldMs <= this.#toldMs) return undefined
    this.#toldMs = toldMs
    return this.#transitions([], false)
  }

  #deleted(): Reset {
    this.#done = true
    return this.#reset('DELETED')
  }

  #reset(reason: Reset['reason']): Reset {
    return { kind: 'reset', reason, jobIds: reason === 'DELETED' ? [this.#job.jobId] : [], ...this.#place }
  }

  get #place() {
    return { cursor: this.#cursor, mark: this.#mark }
  }

  async #wait(msMax = Number.POSITIVE_INFINITY): Promise<undefined> {
    if (this.#shared.ring.isReplaced) return
    const due = getHeartbeatDueMs(this.#lastSent) - this.#rooms.clock.monotonicMs()
    await this.#job.bell.wait(Math.min(msMax, due), this.#signal)
  }
}

const seqBeforeState = ({ stateSeq, version }: JobOpening) => (stateSeq ?? version + 1) - 1

const endsJob = ({ from, to }: FeedEvent) => to !== null && isFinal(to) && (from === null || !isFinal(from))
