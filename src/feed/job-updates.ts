import { maySee, type Viewer } from '../domain/access.ts'
import { retryMs, steadily } from '../platform/steadily.ts'
import { eventsAfter, type FeedEvent, feedRange } from './event.ts'
import type { FactsCache } from './facts.ts'
import { type CompiledFilter, compileFilter, isMove, type JobFilter, momentOf, readMoments } from './filter.ts'
import {
  type FeedRooms,
  type Heartbeat,
  heartbeatIfDue,
  heartbeatMs,
  messageEventsMax,
  type Reset,
  type Transitions,
} from './message.ts'

/**
 * The events of all jobs that the viewer may see and the filter admits, before or after the event, so that a list sees a
 * job leave. A message carries consecutive positions of one job; the cursor also advances over what is left out.
 */

export type JobUpdatesMessage = Transitions | Reset | Heartbeat

export interface JobUpdatesOptions {
  viewer: Viewer
  filter?: JobFilter | undefined
  /** Position of the last event the reader has; left out: from now on. */
  after?: number | undefined
}

export interface JobUpdatesRooms extends FeedRooms {
  facts: FactsCache
}

/** Events of one read. */
const batchEventsMax = 500

/** One reader of `jobUpdates`. */
export class JobUpdatesReader {
  readonly #rooms: JobUpdatesRooms
  readonly #viewer: Viewer
  readonly #filter: CompiledFilter
  readonly #after: number | undefined
  readonly #signal: AbortSignal
  /** Last position of the REPLAY. */
  #head = 0
  #cursor = 0
  #lastSent: number

  constructor(rooms: JobUpdatesRooms, { viewer, filter, after }: JobUpdatesOptions, signal: AbortSignal) {
    this.#rooms = rooms
    this.#viewer = viewer
    this.#filter = compileFilter(filter ?? {})
    this.#after = after
    this.#signal = signal
    this.#cursor = after ?? 0
    this.#lastSent = rooms.clock.monotonicMs()
  }

  async *messages(): AsyncGenerator<JobUpdatesMessage, void, void> {
    for await (const message of this.#all()) {
      this.#lastSent = this.#rooms.clock.monotonicMs()
      yield message
    }
  }

  async *#all(): AsyncGenerator<JobUpdatesMessage, void, void> {
    const reset = await this.#open()
    if (reset) yield reset
    while (!this.#signal.aborted) {
      const events = await steadily(this.#rooms.log, () => this.#nextEvents())
      const admitted = events && (await steadily(this.#rooms.log, () => this.#admit(events)))
      if (!events || !admitted) await this.#wait(retryMs)
      else if (events.length > 0) yield* this.#send(events, admitted)
      else if (!this.#rooms.ring.after(this.#cursor, 1)?.length) await this.#wait(heartbeatMs)
      const heartbeat = heartbeatIfDue(this.#rooms, this.#lastSent, this.#cursor)
      if (heartbeat) yield heartbeat
    }
  }

  /** Where to begin; a reset if events after the reader's cursor are missing. */
  async #open(): Promise<Reset | undefined> {
    const { db, log, clock } = this.#rooms
    for (;;) {
      const range = await steadily(log, () => feedRange(db.sql))
      if (range) return this.#beginIn(range)
      await clock.sleep(retryMs, this.#signal)
      if (this.#signal.aborted) return undefined
    }
  }

  #beginIn({ head, forgotten }: { head: number; forgotten: number }): Reset | undefined {
    const after = this.#after ?? head
    this.#head = head
    this.#cursor = after
    if (forgotten <= after && after <= head) return undefined
    this.#cursor = after < forgotten ? forgotten : head
    return { kind: 'reset', reason: 'RETENTION', cursor: this.#cursor }
  }

  async #nextEvents(): Promise<readonly FeedEvent[]> {
    const { ring, db } = this.#rooms
    const live = ring.after(this.#cursor, batchEventsMax)
    if (live) return live
    const { start } = ring
    const stored = await eventsAfter(db.sql, this.#cursor, batchEventsMax)
    // Events that the ring lacks were stored before it began. Events of a deleted job are gone, and are not waited for.
    if (stored.length === 0 && start !== undefined) this.#cursor = Math.max(this.#cursor, start)
    return stored.length === 0 ? (ring.after(this.#cursor, batchEventsMax) ?? []) : stored
  }

  async #admit(events: readonly FeedEvent[]): Promise<ReadonlySet<FeedEvent>> {
    const { facts, db } = this.#rooms
    const jobs = await facts.of(events.map(({ jobId }) => jobId))
    const ofJobs = events.filter(({ jobId }) => {
      const job = jobs.get(jobId)
      return job !== undefined && maySee(this.#viewer, job) && this.#filter.admitsJob(job)
    })
    if (!this.#filter.asksState) return new Set(ofJobs)
    const still = await readMoments(
      db.sql,
      ofJobs.filter((event) => !isMove(event)),
    )
    return new Set(
      ofJobs.filter((event) => {
        const { from, to, at } = event
        const moments = [
          still.get(event),
          from && isMove(event) && momentOf(from, at),
          to && isMove(event) && momentOf(to, at),
        ]
        return moments.some((moment) => moment && this.#filter.admitsMoment(moment))
      }),
    )
  }

  *#send(events: readonly FeedEvent[], admitted: ReadonlySet<FeedEvent>): Generator<Transitions, void, void> {
    let together: FeedEvent[] = []
    for (const [index, event] of events.entries()) {
      if (admitted.has(event)) together.push(event)
      this.#cursor = event.position ?? this.#cursor
      const next = events[index + 1]
      const goesOn =
        next !== undefined && admitted.has(next) && this.#continues(event, next) && together.length < messageEventsMax
      if (goesOn || together.length === 0) continue
      yield this.#transitions(together)
      together = []
    }
  }

  #continues(event: FeedEvent, next: FeedEvent): boolean {
    const bothReplay = this.#isReplay(event) === this.#isReplay(next)
    return next.jobId === event.jobId && next.position === (event.position ?? 0) + 1 && bothReplay
  }

  #isReplay({ position }: FeedEvent): boolean {
    return (position ?? 0) <= this.#head
  }

  #transitions(events: readonly FeedEvent[]): Transitions {
    const [first] = events
    return {
      kind: 'transitions',
      jobId: first?.jobId ?? '',
      events,
      cursor: this.#cursor,
      phase: first && this.#isReplay(first) ? 'REPLAY' : 'LIVE',
      isFinal: false,
    }
  }

  async #wait(ms: number): Promise<void> {
    const { clock, ring } = this.#rooms
    await ring.bell.wait(Math.min(ms, this.#lastSent + heartbeatMs - clock.monotonicMs()), this.#signal)
  }
}
