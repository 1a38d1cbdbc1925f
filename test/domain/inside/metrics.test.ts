import { expect, test } from 'vitest'
import { addMetrics, type Metric, readMetricPoints, readMetrics } from '../../../src/domain/inside/metrics.ts'
import { reportProgress } from '../../../src/domain/inside/progress.ts'
import { createRunTokenCheck, createRunViewer, deriveRunToken } from '../../../src/domain/inside/run-tokens.ts'
import { transition } from '../../../src/domain/jobs/transition.ts'
import { openTestDomain } from '../../support/domain.ts'

const { database, it } = await openTestDomain()
const { sql } = database.db

async function startRun() {
  const jobId = await it.submit()
  const starts = { jobId, run: 1, from: 'QUEUED', to: 'STARTING', reason: null } as const
  const [moved] = await transition(sql, [starts], it.time.nowMs())
  const runId = moved?.runId ?? ''
  const run = await createRunTokenCheck(it.domain)(await deriveRunToken(it.domain, runId))
  if (!run) throw new Error('The token was refused')
  const viewer = createRunViewer(run, { ip: null, requestId: null })
  const report = (metrics: readonly Partial<Metric>[], more: object = {}, domain = it.domain) =>
    reportProgress(domain, viewer, { metrics, ...more })
  const store = (metrics: readonly Metric[]) => database.db.transaction((tx) => addMetrics(tx, [{ runId, metrics }]))
  const series = async (name: string, points = 1_000) =>
    (await readMetricPoints(sql, [{ runId, name }], points)).map(({ step, value }) => [step, value])
  return { jobId, runId, report, store, series }
}

const range = (from: number, to: number, name = 'loss'): Metric[] =>
  Array.from({ length: to - from + 1 }, (_, i) => ({ name, step: from + i, value: 1 / (from + i) }))

test('metrics are stored by name and step; a repeated report changes nothing', async () => {
  const { runId, report, series } = await startRun()
  const metrics = [
    { name: 'loss', step: 10, value: 0.5 },
    { name: 'val/acc-1', step: 10, value: 0.9 },
  ]
  await report(metrics, { fraction: 0.5 })
  await report(metrics, { fraction: 0.5 })
  await report([{ name: 'loss', step: 5, value: 0.75 }])
  await report([{ name: 'loss', step: 10, value: 0.25 }])
  expect(await series('loss')).toEqual([
    [5, 0.75],
    [10, 0.25],
  ])
  expect(await readMetrics(sql, [runId])).toMatchObject([
    { name: 'loss', step: 10, value: 0.25 },
    { name: 'val/acc-1', step: 10, value: 0.9 },
  ])
})

test('a value without a step gets the next step, unless it equals the newest value', async () => {
  const { store, series } = await startRun()
  for (const value of [3, 2, 2]) await store([{ name: 'loss', step: null, value }])
  await store([{ name: 'loss', step: 10, value: 1 }])
  await store([{ name: 'loss', step: null, value: 0.5 }])
  expect(await series('loss')).toEqual([
    [1, 3],
    [2, 2],
    [10, 1],
    [11, 0.5],
  ])
})

test('concurrent reports of two servers lose no point', async () => {
  const { report, series } = await startRun()
  const domains = [it.domain, { ...it.domain }, { ...it.domain }]
  const reports = domains.flatMap((domain, i) =>
    range(i * 10 + 1, i * 10 + 10).map((metric) => report([metric], {}, domain)),
  )
  await Promise.all(reports)
  expect((await series('loss')).map(([step]) => step)).toEqual(range(1, 30).map(({ step }) => step))
})

test('a value without a step is stored even after the highest step that can be reported', async () => {
  const { report, series } = await startRun()
  const step = Number.MAX_SAFE_INTEGER - 1
  await report([
    { name: 'loss', value: 1, step },
    { name: 'loss', value: 2, step: null },
  ])
  expect(await series('loss')).toEqual([
    [step, 1],
    [step + 1, 2],
  ])
})

test('a run that reports more than 10,000 values in a second is refused', async () => {
  const { report } = await startRun()
  await report(range(1, 1))
  const reports = Array.from({ length: 12 }, (_, at) => report(range(1_000 * at + 2, 1_000 * at + 1_001)))
  const statuses = (await Promise.allSettled(reports)).map(({ status }) => status)
  expect(statuses.slice(0, 9)).toEqual(Array(9).fill('fulfilled'))
  expect(statuses.at(-1)).toBe('rejected')
})

test('two concurrent reports do not exceed the maximum number of metric names', async () => {
  const { runId, report } = await startRun()
  const named = (from: number, to: number) =>
    range(from, to).map((metric) => ({ ...metric, name: `metric_${metric.step}`, step: 1 }))
  await report(named(1, 40))
  const refused = await Promise.allSettled(
    [it.domain, { ...it.domain }].map((domain, i) => report(named(41 + i * 20, 60 + i * 20), {}, domain)),
  )
  expect(refused.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  expect(await readMetrics(sql, [runId])).toHaveLength(60)
})

test('a series of 20,000 steps is reduced to at most 1,000 points, with its first, its last, and no gap of 200 steps', async () => {
  const { runId, store, series } = await startRun()
  for (let from = 1; from <= 20_000; from += 500) {
    await store(range(from, from + 499))
    const [row] = await sql.query<{ count: number }>(
      'SELECT count(*)::int AS count FROM metric_point WHERE run_id = $1',
      [runId],
    )
    expect(row?.count).toBeLessThanOrEqual(1_000)
  }
  const steps = (await series('loss')).map(([step]) => step ?? 0)
  expect(steps.length).toBeGreaterThan(250)
  expect([steps[0], steps.at(-1)]).toEqual([1, 20_000])
  expect(Math.max(...steps.slice(1).map((step, i) => step - (steps[i] ?? 0)))).toBeLessThan(200)
  const few = await series('loss', 10)
  expect(few.length).toBeLessThanOrEqual(10)
  expect([few[0], few.at(-1)]).toEqual([
    [1, 1],
    [20_000, 1 / 20_000],
  ])
})

test('a report with wrong metrics is refused with field, value and rule, and nothing is stored', async () => {
  const { runId, report } = await startRun()
  const problem = (metrics: readonly Partial<Metric>[]) =>
    report(metrics).then(
      () => 'stored',
      ({ violations }) =>
        violations.map(({ path, message }: { path: string[]; message: string }) => `${path.join('.')}: ${message}`),
    )
  expect(await problem([{ name: '1st', value: 1 }])).toEqual([
    'metrics.0.name: Must have 1 … 64 letters, digits and _ . / -, and begin with a letter or _ (given: "1st")',
  ])
  expect(await problem([{ name: 'x'.repeat(65), value: 1 }])).toHaveLength(1)
  expect(await problem([{ name: 'loss', value: Number.NaN }])).toEqual([
    'metrics.0.value: Must be a finite number (given: NaN)',
  ])
  expect(await problem([{ name: 'loss', value: 1, step: -1 }])).toEqual([
    'metrics.0.step: Must be a whole number 0 … 2^53 − 2 (given: -1)',
  ])
  expect(
    await problem([
      { name: 'loss', value: 1 },
      { name: 'loss', value: 2 },
    ]),
  ).toEqual(['metrics.1: Must not repeat loss with the same step, or without one'])
  expect(await problem(range(1, 1_001))).toEqual(['metrics: Must have at most 1,000 entries'])
  expect(await problem([])).toEqual(['fraction: Give fraction, message or metrics'])
  const names = range(1, 65).map((metric) => ({ ...metric, name: `metric_${metric.step}` }))
  expect(await problem(names)).toEqual(['metrics: A run can report at most 64 names of metrics'])
  expect(await readMetrics(sql, [runId])).toEqual([])
})

test('a report that has only metrics does not change the time of the last progress', async () => {
  const { jobId, report } = await startRun()
  await report([], { fraction: 0.5 })
  const read = () => sql.query('SELECT progress_at, told_at FROM job WHERE id = $1', [jobId])
  const [before] = await read()
  await report([{ name: 'loss', value: 1 }])
  const [after] = await read()
  expect(after?.['progress_at']).toEqual(before?.['progress_at'])
  expect(after?.['told_at']).not.toEqual(before?.['told_at'])
})

test('metrics are deleted with their job', async () => {
  const { jobId, runId, report } = await startRun()
  await report([{ name: 'loss', value: 1 }])
  await sql.query('DELETE FROM job WHERE id = $1', [jobId])
  for (const table of ['run_metric', 'metric_point'])
    expect(await sql.query(`SELECT FROM ${table} WHERE run_id = $1`, [runId])).toEqual([])
})
