import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { compareEntries, LaneWindow, windowSize } from '../../../src/scheduler/plan/lane-window.ts'
import type { Waiting } from '../../../src/scheduler/plan/model.ts'
import { lane, waiting } from '../../support/planning.ts'
import { tries } from '../../support/whole.ts'

const newWindow = () => new LaneWindow({ lane: lane('l'), userName: 'u', team: null })

describe('a change of a lane that is reported twice', () => {
  it('counts a job once', () => {
    const window = newWindow()
    for (const entry of [waiting('l', 1), waiting('l', 1), waiting('l', 2)]) window.join(entry)
    window.leave('j2')
    window.leave('j2')
    expect([window.waiting, window.head?.jobId]).toEqual([1, 'j1'])
  })

  it('does not queue a started job again', () => {
    const window = newWindow()
    window.join(waiting('l', 1))
    window.take(waiting('l', 1))
    window.join(waiting('l', 1))
    expect([window.waiting, window.head]).toEqual([0, undefined])
    window.leave('j1')
    expect(window.isOver).toBe(true)
  })
})

it('the window of a lane queues a job with a new run at its old position', () => {
  const window = newWindow()
  for (const sequence of [1, 2]) window.join(waiting('l', sequence))
  window.take(waiting('l', 1))
  window.leave('j1')
  window.join(waiting('l', 1, { runId: 'again' }))
  expect(window.head?.runId).toBe('again')
})

it('the window of a long lane counts it down as its jobs start', () => {
  const window = newWindow()
  const all = Array.from({ length: 3 * windowSize }, (_, at) => waiting('l', at + 1))
  const startAll = () => {
    for (let head = window.head; head; head = window.head) window.take(head)
  }
  window.load(all.length, all.slice(0, windowSize))
  startAll()
  // One read before the commit, and one after the commit.
  window.refill(all.slice(0, windowSize))
  for (const { jobId } of all.slice(0, windowSize)) window.leave(jobId)
  window.refill(all.slice(windowSize, 2 * windowSize))
  expect(window.waiting).toBe(2 * windowSize)
  startAll()
  expect(window.waiting).toBe(windowSize)
  for (const { jobId } of all.slice(windowSize, 2 * windowSize)) window.leave(jobId)
  expect(window.waiting).toBe(windowSize)
})

it('the window of a lane counts a job once if a read shows the job before its change arrives', () => {
  const window = newWindow()
  const all = Array.from({ length: 2 * windowSize }, (_, at) => waiting('l', at + 1))
  const first = all.slice(0, windowSize)
  window.load(all.length, first)
  for (const entry of first) window.take(entry)
  for (const { jobId } of first) window.leave(jobId)
  const ahead = waiting('l', 0)
  window.refill([ahead, ...all.slice(windowSize, -1)])
  window.take(ahead)
  for (const entry of [ahead, ahead]) window.join(entry)
  expect(window.waiting).toBe(windowSize)
  window.leave(ahead.jobId)
  expect(window.waiting).toBe(windowSize)
})

/** The rows of the table, and the changes that the leader has not read yet. */
class Rows {
  readonly entries: Waiting[] = []
  readonly unheard: ((window: LaneWindow) => void)[] = []
  /** Jobs that were started from the window. */
  readonly started = new Set<string>()
  private made = 0

  join(bid: number): Waiting {
    const entry = waiting('l', ++this.made, { bid })
    this.entries.push(entry)
    this.unheard.push((window) => window.join(entry))
    return entry
  }

  leave(at: number): void {
    const [entry] = this.entries.splice(at % Math.max(1, this.entries.length), 1)
    if (entry) this.unheard.push((window) => window.leave(entry.jobId))
  }

  first = () => this.entries.toSorted(compareEntries).slice(0, windowSize)
}

const steps = fc.array(
  fc.record({
    kind: fc.constantFrom('join', 'leave', 'hear', 'refill', 'start', 'startMany', 'startUnseen'),
    value: fc.nat(200),
  }),
  { maxLength: 400 },
)

function hear(window: LaneWindow, rows: Rows, count: number): void {
  for (const tell of rows.unheard.splice(0, count)) tell(window)
}

function refill(window: LaneWindow, rows: Rows): void {
  if (window.needsRefill) window.refill(rows.first())
}

/** The commit omits jobs that another transaction moved first. */
function start(window: LaneWindow, rows: Rows): void {
  const { head } = window
  if (!head) return
  window.take(head)
  const at = rows.entries.findIndex(({ jobId }) => jobId === head.jobId)
  if (at < 0) window.lose(head.jobId)
  else {
    rows.started.add(head.jobId)
    rows.leave(at)
  }
}

function startMany(window: LaneWindow, rows: Rows, count: number): void {
  for (let at = 0; at < count; at++) start(window, rows)
}

/** Submitted and started in one transaction, which requires that all earlier changes were read. */
function startUnseen(window: LaneWindow, rows: Rows, bid: number): void {
  hear(window, rows, rows.unheard.length)
  const entry = rows.join(bid)
  window.takeUnseen(entry)
  rows.started.add(entry.jobId)
  rows.leave(rows.entries.length - 1)
}

const moves: Record<string, (window: LaneWindow, rows: Rows, value: number) => void> = {
  join: (_, rows, value) => rows.join(value % 4),
  leave: (_, rows, value) => rows.leave(value),
  hear: (window, rows, value) => hear(window, rows, value % 20),
  refill,
  start,
  startMany: (window, rows, value) => startMany(window, rows, value % (2 * windowSize)),
  startUnseen: (window, rows, value) => startUnseen(window, rows, value % 4),
}

test('the window of a lane matches the rows for any order of reads and changes', () => {
  fc.assert(
    fc.property(fc.nat(100), steps, (before, made) => {
      const rows = new Rows()
      for (let at = 0; at < before; at++) rows.join(at % 3)
      rows.unheard.length = 0
      const window = newWindow()
      window.load(rows.entries.length, rows.first())
      for (const { kind, value } of made) {
        moves[kind]?.(window, rows, value)
        expect([...rows.started].filter((jobId) => window.find(jobId))).toEqual([])
      }
      hear(window, rows, rows.unheard.length)
      refill(window, rows)
      expect(window.head?.jobId).toBe(rows.first()[0]?.jobId)
      expect(window.waiting).toBe(rows.entries.length)
    }),
    { numRuns: tries(500) },
  )
})
