import { describe, expect, it } from 'vitest'
import { describeCancel } from '../../web/features/jobs/actions/consequences.ts'
import { listPhases } from '../../web/pages/job/timeline/phases.ts'
import {
  formatBytes,
  formatDuration,
  formatMoney,
  formatPercent,
  formatRelative,
  formatTenth,
  plural,
  quoteShell,
} from '../../web/parts/format.ts'
import { formatServerText, nameJob } from '../../web/parts/server-text.ts'
import { describeInfo } from '../../web/parts/states.ts'

it.each([
  [0, '0 s'],
  [59_999, '59 s'],
  [65_000, '1 min 05 s'],
  [754_000, '12 min'],
  [3_720_000, '1 h 02 min'],
  [273_600_000, '3 d 4 h'],
  [-5, '0 s'],
])('a duration of %d ms is formatted as %s', (ms, text) => expect(formatDuration(ms)).toBe(text))

it.each([
  [0, 'just now'],
  [-61_000, '1 min ago'],
  [1_200_000, 'in 20 min'],
  [-7_200_000, '2 h ago'],
  [-8 * 86_400_000, '16 Nov 2026'],
])('a time %d ms from now is formatted as %s', (ms, text) => {
  const nowMs = Date.parse('2026-11-24T12:00:00Z')
  expect(formatRelative(nowMs + ms, nowMs)).toBe(text)
})

it.each([
  [0, '0 B'],
  [1_023, '1023 B'],
  [1_536, '1.50 KiB'],
  [68_719_476_736, '64 GiB'],
  [1_098_907_648, '1.02 GiB'],
])('%d bytes are formatted as %s', (bytes, text) => expect(formatBytes(bytes)).toBe(text))

it.each([
  [0, '0 %'],
  [0.29, '29 %'],
  [0.996, '99 %'],
  [1, '100 %'],
])('the fraction %d is formatted as %s', (part, text) => expect(formatPercent(part)).toBe(text))

it.each([
  [0.25, '0.3'],
  [12, '12'],
  [1_024.04, '1,024'],
])('%d with one decimal is formatted as %s', (value, text) => expect(formatTenth(value)).toBe(text))

it.each([
  [4.2, 'EUR', 'EUR\u00a04.20'],
  [0.00171, 'EUR', 'EUR\u00a00.0017'],
  [0, 'EUR', 'EUR\u00a00.00'],
  [0.00171, null, '0.0017'],
  [12, null, '12.00'],
])('a cost of %d %s is written %s', (amount, currency, text) => expect(formatMoney({ amount, currency })).toBe(text))

it('plural adds an s unless the number is 1', () => {
  expect([plural(1, 'job'), plural(1_204, 'job')]).toEqual(['1 job', '1,204 jobs'])
})

it('quoteShell quotes arguments for a shell', () => {
  expect(['train.py', "it's", '', 'a b'].map(quoteShell)).toEqual(['train.py', "'it'\\''s'", "''", "'a b'"])
})

it('describeCancel says which jobs a cancellation stops, and how much work they lose', () => {
  const nowMs = Date.parse('2026-11-24T12:00:00Z')
  const active = {
    stateCategory: 'ACTIVE',
    startedAt: null,
    currentRun: { startedAt: '2026-11-24T10:00:00Z' },
  } as const
  const waiting = { ...active, stateCategory: 'WAITING', currentRun: { startedAt: null } } as const
  expect(describeCancel([active, active, waiting], nowMs)).toBe(
    'Stops 2 running jobs and loses 4 h 00 min of work. 1 waiting job leaves the queue.',
  )
  expect(describeCancel([{ ...waiting, stateCategory: 'FINAL' }], nowMs)).toBe(
    '1 job already ended and stays as it is.',
  )
})

it('the phases of a job cover all of its runs', () => {
  const at = (minute: number) => new Date(Date.UTC(2026, 10, 24, 12, minute)).toISOString()
  const job = { createdAt: at(0), queuedAt: at(4), finishedAt: null }
  const run = {
    number: 1,
    state: 'FAILED',
    createdAt: at(0),
    scheduledAt: at(20),
    startedAt: at(21),
    finishedAt: at(30),
  }
  const next = {
    ...run,
    number: 2,
    state: 'RUNNING',
    createdAt: at(30),
    scheduledAt: at(31),
    startedAt: at(31),
    finishedAt: null,
  }
  const phases = listPhases(job, [run, next] as never)
  expect(phases.map(({ state, run, fromMs, toMs }) => [state, run, fromMs, toMs])).toEqual([
    ['BLOCKED', 1, Date.parse(at(0)), Date.parse(at(4))],
    ['QUEUED', 1, Date.parse(at(4)), Date.parse(at(20))],
    ['STARTING', 1, Date.parse(at(20)), Date.parse(at(21))],
    ['RUNNING', 1, Date.parse(at(21)), Date.parse(at(30))],
    ['QUEUED', 2, Date.parse(at(30)), Date.parse(at(31))],
    ['RUNNING', 2, Date.parse(at(31)), null],
  ])
})

describe('a message of the server', () => {
  it('is shown with local times and readable durations', () => {
    const at = new Date(2027, 0, 31, 14, 20)
    const text = `reserved from ${at.toISOString()} on, 86400 s at most`
    expect(formatServerText(text)).toBe('reserved from 31 Jan 14:20 on, 1 d 0 h at most')
    expect(formatServerText('a user of level LEAD or above')).toBe('a user of level lead or above')
    expect(formatServerText('The job is QUEUED, not RUNNING')).toBe('The job is queued, not running')
    expect(formatServerText('expires 2026-01-31T12:00Z')).not.toContain('T12')
  })

  it('shows direction control characters in a name as ⟨U+202E⟩', () => {
    expect(nameJob({ id: 'job_1', name: 'a\u202Eb' })).toBe('a⟨U+202E⟩b')
    expect(nameJob({ id: 'job_1', name: null })).toBe('job_1')
  })

  it.each([
    ['The command exited with code 3', null],
    ['The command exited with code 127 (usually: the command was not found)', 'usually: the command was not found'],
    ['Signal 9 ended it. The node was drained', 'The node was drained'],
    ['The run reached its maximum run time of 7200 s', null],
    ['Killed at its memory limit of 16 GiB; retry with --mem 32', null],
    ['The image does not exist', 'The image does not exist'],
    [null, null],
  ])('is shortened from %j to %j beside the state', (info, added) => expect(describeInfo(info)).toBe(added))
})
