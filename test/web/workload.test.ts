import { expect, it } from 'vitest'
import { findRowAt, listMarks, xOf } from '../../web/pages/workload/draw-forecast.ts'
import { listForecast } from '../../web/pages/workload/forecast-bars.ts'
import { countChanges } from '../../web/pages/workload/held-order.ts'
import { describeEffect } from '../../web/pages/workload/limit-effect.ts'
import type { LineRow } from '../../web/pages/workload/use-workload.ts'

const nowMs = Date.parse('2026-11-26T12:00:00Z')
const at = (minutes: number) => new Date(nowMs + minutes * 60_000).toISOString()

interface Given {
  id: string
  user?: string
  isRunning?: boolean
  reason?: string
  gpu?: number
  estimate?: object
  maxRunTimeSeconds?: number | null
}

const makeRow = ({
  id,
  user = 'ann',
  isRunning = false,
  reason,
  gpu = 0,
  estimate,
  maxRunTimeSeconds = 3_600,
}: Given) =>
  ({
    id,
    name: null,
    state: isRunning ? 'RUNNING' : 'QUEUED',
    stateCategory: isRunning ? 'ACTIVE' : 'WAITING',
    user: { id: user, name: user },
    createdAt: at(-60),
    startedAt: isRunning ? at(-30) : null,
    currentRun: { startedAt: isRunning ? at(-30) : null },
    maxRunTimeSeconds,
    resources: { gpu, replicas: 1 },
    scheduling: isRunning ? null : { reasons: reason ? [{ code: reason }] : [], estimatedStart: estimate ?? null },
  }) as unknown as LineRow

const waits = (code: string, count: number) => [{ code, count }] as never

it.each([
  [5, 'No job waits for this limit now.', 5, []],
  [8, '3 more jobs could start, as far as resources and other limits allow.', 5, waits('GLOBAL_LIMIT', 7)],
  [20, '7 more jobs could start, as far as resources and other limits allow.', 5, waits('GLOBAL_LIMIT', 7)],
  [null, '2 more jobs could start, as far as resources and other limits allow.', 5, waits('POOL_PAUSED', 2)],
  [3, '2 jobs over the limit continue; new ones wait.', 5, waits('GLOBAL_LIMIT', 7)],
  [4, '1 job over the limit continues; new ones wait.', 5, []],
  [5, 'No more jobs could start; 1 still waits for it.', 5, waits('GLOBAL_LIMIT', 1)],
])('the effect of a pool limit of %s is: %s', (value, text, running, byReason) =>
  expect(describeEffect('maxConcurrent', value, { panel: { running, byReason }, rows: [] })).toBe(text),
)

it('the effect of a limit of users is computed for each user', () => {
  const rows = [
    makeRow({ id: 'a', isRunning: true }),
    makeRow({ id: 'b', reason: 'USER_LIMIT' }),
    makeRow({ id: 'c', reason: 'USER_LIMIT' }),
    makeRow({ id: 'd', user: 'ben', reason: 'USER_LIMIT' }),
    makeRow({ id: 'e', user: 'ben', reason: 'NO_CAPACITY' }),
  ]
  const panel = { running: 1, byReason: [] }
  expect(describeEffect('userMaxConcurrent', 2, { panel, rows })).toMatch(/^2 more jobs could start/)
  expect(describeEffect('userMaxConcurrent', 0, { panel, rows })).toBe('1 job over the limit continues; new ones wait.')
})

it('the effect of a limit of GPUs depends on the GPUs of the jobs that wait for it', () => {
  const rows = [
    makeRow({ id: 'a', isRunning: true, gpu: 4 }),
    makeRow({ id: 'b', reason: 'LOCAL_GPU_LIMIT', gpu: 4 }),
    makeRow({ id: 'c', reason: 'LOCAL_GPU_LIMIT', gpu: 1 }),
  ]
  const panel = { running: 1, byReason: [] }
  expect(describeEffect('localGpuMaxConcurrent', 6, { panel, rows })).toMatch(/^1 more job could start/)
  expect(describeEffect('localGpuMaxConcurrent', 3, { panel, rows })).toMatch(/^1 GPU over the limit/)
})

it('the forecast draws running jobs until their limit, and waiting jobs from their estimated start', () => {
  const rows = [
    makeRow({ id: 'runs', isRunning: true }),
    makeRow({ id: 'endless', isRunning: true, maxRunTimeSeconds: null }),
    makeRow({ id: 'waits', estimate: { p50: at(20), p90: at(50), earliest: at(10), latest: null } }),
    makeRow({ id: 'late', estimate: { p50: null, p90: null, earliest: at(-5), latest: at(90) } }),
    makeRow({ id: 'unknown' }),
  ]
  const node = { id: 'n', name: 'gpu1' }
  const holds = [
    {
      id: 'hold',
      since: at(-5),
      expectedAt: at(40),
      waitingForVictims: 0,
      job: { id: 'unknown', name: null },
      nodes: [node],
    },
  ]
  const reservations = [
    { id: 'r', name: 'paper', project: 'p', startsAt: at(60), endsAt: at(120), nodes: [node] },
    { id: 'past', name: 'old', project: 'p', startsAt: at(-90), endsAt: at(-60), nodes: [node] },
  ]
  const minutes = (ms: number | null) => ms && (ms - nowMs) / 60_000
  const shown = listForecast(rows, { holds, reservations, nowMs }).map(({ id, bars }) => [
    id,
    ...bars.map((bar) => [bar.kind, minutes(bar.fromMs), minutes(bar.toMs), minutes(bar.latestStartMs)]),
  ])
  expect(shown).toEqual([
    ['r', ['RESERVATION', 60, 120, null]],
    ['runs', ['JOB', -30, 30, null]],
    ['endless', ['JOB', -30, null, null]],
    ['waits', ['JOB', 20, 80, 50]],
    ['late', ['JOB', 0, 60, 90]],
    ['unknown', ['HOLD', -5, 40, null]],
  ])
})

it('xOf and findRowAt convert between pixels and times or rows', () => {
  const view = {
    rows: [1, 2, 3] as never,
    width: 1_000,
    height: 400,
    scrollTop: 24,
    nowMs,
    spanMs: 3_600_000,
    nameWidth: 200,
    hovered: null,
  }
  expect(xOf(nowMs + view.spanMs, view)).toBe(1_000)
  expect(listMarks(view).length).toBeGreaterThan(3)
  expect([findRowAt(10, view), findRowAt(30, view), findRowAt(60, view), findRowAt(90, view)]).toEqual([
    null,
    1,
    2,
    null,
  ])
})

it.each([
  [['a', 'b'], ['a', 'b'], 0],
  [['a', 'b'], ['b', 'a', 'c'], 3],
  [['a', 'b'], ['b'], 1],
])('countChanges from %j to %j returns %d', (shown, next, count) => expect(countChanges(shown, next)).toBe(count))
