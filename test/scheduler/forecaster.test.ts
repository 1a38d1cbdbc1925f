import { beforeEach, expect, test } from 'vitest'
import { transition } from '../../src/domain/jobs/transition.ts'
import { estimateStarts } from '../../src/domain/queue/estimate.ts'
import type { JobState } from '../../src/domain/state.ts'
import { type JobPreview, previewJob } from '../../src/domain/submission/preview.ts'
import { openTestDomainForEach, simNode } from '../support/domain.ts'
import { createLeader, type TestLeader } from '../support/leader.ts'

/** One node of one core: jobs run one after the other. */
const { database, it, sql } = openTestDomainForEach({ nodes: [{ ...simNode, cpuMillis: 1_000 }] })
let leader: TestLeader

beforeEach(async () => {
  leader = await createLeader(it.domain, 'sim')
})

const move = (jobId: string, from: JobState, to: JobState) =>
  transition(database.db.sql, [{ jobId, run: 1, from, to, reason: null }], it.domain.time.nowMs())
const estimates = (jobIds: readonly string[]) => estimateStarts(it.domain, jobIds)
const secondsBetween = (one: Date | null | undefined, other: Date | null | undefined) =>
  Math.round(((other?.getTime() ?? Number.NaN) - (one?.getTime() ?? Number.NaN)) / 1_000)

async function startOne(maxRunTimeSeconds: number, name: string | null = null): Promise<string> {
  const jobId = await it.submit({ maxRunTimeSeconds, name })
  await leader.tick()
  await move(jobId, 'STARTING', 'RUNNING')
  return jobId
}

/** A preview with a forecast. Retries, because on a busy machine the forecast may be too late for the preview. */
async function previewWhileLeading(spec: object): Promise<JobPreview> {
  for (;;) {
    let isOver = false
    const asked = previewJob(it.domain, it.admin, { spec: { command: ['true'], ...spec } }).finally(() => {
      isOver = true
    })
    while (!isOver) await leader.tick()
    const preview = await asked
    if (!preview.estimatedStart?.basis.startsWith('Stated maximum run times')) return preview
  }
}

/** Stores ended jobs with this name and run time. */
async function earlierRuns(name: string, seconds: readonly number[]): Promise<void> {
  for (const ran of seconds) {
    const jobId = await startOne(0, name)
    await move(jobId, 'RUNNING', 'SUCCEEDED')
    await sql("UPDATE run SET started_at = finished_at - $2 * interval '1 second' WHERE job_id = $1", [jobId, ran])
  }
}

test('with maximum run times, each job in a long lane is forecast after those before it, and p90 equals p50', async () => {
  await startOne(600)
  const waiting: string[] = []
  for (let at = 0; at < 40; at++) waiting.push(await it.submit({ maxRunTimeSeconds: 60 }))
  await leader.tick()
  const before = await estimates(waiting)
  expect(before.get(waiting[0] ?? '')).toMatchObject({ p50: null, p90: null })
  await leader.forecast()
  const found = await estimates(waiting)
  const first = found.get(waiting[0] ?? '')
  for (const [at, jobId] of waiting.entries()) {
    const one = found.get(jobId)
    expect(secondsBetween(first?.p50, one?.p50)).toBe(60 * at)
    expect(one?.p90).toEqual(one?.p50)
    expect(one?.earliest?.getTime()).toBeLessThanOrEqual(one?.p50?.getTime() ?? 0)
    expect(one?.latest?.getTime()).toBeGreaterThanOrEqual(one?.p90?.getTime() ?? Infinity)
  }
  expect(first?.basis).toBe('The queue simulated once: 41 jobs run until their maximum run time')
})

test('the forecast of a preview is after the jobs before it, and also after a job of its lane', async () => {
  await startOne(600)
  for (let at = 0; at < 3; at++) await it.submit({ maxRunTimeSeconds: 60 })
  await leader.tick()
  const preview = await previewWhileLeading({ maxRunTimeSeconds: 30 })
  expect(preview.position).toBe(4)
  const { p50 = null, p90, basis } = preview.estimatedStart ?? {}
  expect(Math.abs(secondsBetween(new Date(it.domain.time.nowMs()), p50) - (600 + 3 * 60))).toBeLessThan(30)
  expect(p90).toEqual(p50)
  expect(basis).toBe('The queue simulated once: 5 jobs run until their maximum run time')
  expect(await sql('SELECT id FROM question')).toEqual([])
})

test('the forecast of a preview uses earlier runs of similar jobs', async () => {
  await earlierRuns('train', [95, 100, 105, 100])
  await startOne(600)
  await it.submit({ name: 'train', maxRunTimeSeconds: 0 })
  await leader.tick()
  const preview = await previewWhileLeading({ name: 'train', maxRunTimeSeconds: 0 })
  expect(preview.estimatedStart?.basis).toContain('3 jobs run as long as earlier runs like them')
})

test('without maximum run times, the forecast uses earlier runs of the user with the same name and size', async () => {
  await earlierRuns('train', [95, 100, 105, 100])
  const running = await startOne(0, 'train')
  const [next, last] = [
    await it.submit({ name: 'train', maxRunTimeSeconds: 0 }),
    await it.submit({ command: ['first'], maxRunTimeSeconds: 0 }),
  ]
  const unknown = await it.submit({ command: ['second'], maxRunTimeSeconds: 0 })
  await leader.tick()
  await leader.forecast()
  const found = await estimates([next, last, unknown])
  const [run] = await sql<{ startedAt: Date }>('SELECT started_at AS "startedAt" FROM run WHERE job_id = $1', [running])
  expect(secondsBetween(run?.startedAt, found.get(next)?.p50)).toBeGreaterThanOrEqual(95)
  expect(secondsBetween(run?.startedAt, found.get(next)?.p90)).toBeLessThanOrEqual(105)
  expect(secondsBetween(found.get(next)?.p50, found.get(last)?.p50)).toBeGreaterThanOrEqual(90)
  expect(found.get(next)).toMatchObject({
    latest: null,
    // On a busy machine forecasts are less frequent.
    basis: expect.stringMatching(
      /^The queue simulated \d+ times: 2 jobs run as long as earlier runs like them, 2 jobs have no known run time, others join as in the past day$/,
    ),
  })
  // The job waits for a job without a known run time.
  expect(found.get(unknown)).toMatchObject({
    p50: null,
    p90: null,
    earliest: null,
    latest: null,
    unknown: [last, unknown],
  })
})

test('a default maximum run time leads to no forecast, and the estimate names the job whose end is unknown', async () => {
  const running = await it.submit()
  await leader.tick()
  await move(running, 'STARTING', 'RUNNING')
  const waits = await it.submit({ maxRunTimeSeconds: 60 })
  await leader.tick()
  for (let at = 0; at < 2; at++) {
    expect((await estimates([waits])).get(waits)).toMatchObject({
      p50: null,
      earliest: null,
      latest: null,
      basis: expect.stringContaining('no maximum run time'),
      unknown: [running],
    })
    await leader.forecast()
  }
})

test('the forecast for a job without earlier runs uses how much of their maximum other jobs took, or its sweep or command', async () => {
  for (const seconds of [30, 30, 30]) {
    const jobId = await startOne(60, `part ${seconds}`)
    await move(jobId, 'RUNNING', 'SUCCEEDED')
    await sql("UPDATE run SET started_at = finished_at - $2 * interval '1 second' WHERE job_id = $1", [jobId, seconds])
  }
  for (let at = 0; at < 3; at++) {
    const jobId = await it.submit({ name: `point ${at}`, labels: [{ key: 'sweep', value: 's' }], maxRunTimeSeconds: 0 })
    await leader.tick()
    await move(jobId, 'STARTING', 'RUNNING')
    await move(jobId, 'RUNNING', 'SUCCEEDED')
    await sql("UPDATE run SET started_at = finished_at - interval '500 seconds' WHERE job_id = $1", [jobId])
  }
  const command = ['sh', '-c', 'true']
  const first = await it.submit({ name: 'other', command, maxRunTimeSeconds: 1_000 })
  const [second, third] = [
    await it.submit({ name: 'point 4', labels: [{ key: 'sweep', value: 's' }], maxRunTimeSeconds: 0 }),
    await it.submit({ maxRunTimeSeconds: 60 }),
  ]
  await leader.tick()
  await move(first, 'STARTING', 'RUNNING')
  await leader.forecast()
  const found = await estimates([second, third])
  expect(secondsBetween(found.get(second)?.p50, found.get(third)?.p50)).toBeGreaterThan(400)
  expect(found.get(second)?.basis).toContain('takes the part of its maximum run time')
  expect(found.get(second)?.basis).toContain('others join as in the past day')
})

test('a forecast is shown for a minute, but not for a job whose gate has closed since', async () => {
  await startOne(600)
  const [waits, gated] = [await it.submit({ maxRunTimeSeconds: 60 }), await it.submit({ maxRunTimeSeconds: 60 })]
  await leader.tick()
  await leader.forecast()
  await sql("UPDATE job SET not_before = berth_now() + interval '1 hour' WHERE id = $1", [gated])
  await sql('UPDATE queue_entry SET open = false WHERE job_id = $1', [gated])
  const found = await estimates([waits, gated])
  expect(found.get(waits)?.p50).toEqual(found.get(waits)?.earliest)
  expect(found.get(gated)).toMatchObject({ p50: null, p90: null })
  await sql("UPDATE pool_forecast SET at = at - interval '61 seconds'")
  expect((await estimates([waits])).get(waits)).toMatchObject({ p50: null, p90: null })
})

test('a leader of an old epoch stores no forecast', async () => {
  await startOne(600)
  await it.submit({ maxRunTimeSeconds: 60 })
  await leader.tick()
  await sql('UPDATE scheduler_leader SET epoch = 2')
  await leader.forecast()
  expect(await sql('SELECT * FROM pool_forecast')).toEqual([])
})

test('on a busy machine a forecast is not cut short, and the next one is not delayed', async () => {
  let nowMs = 0
  // Simulates a busy machine: a second passes between two reads of the clock.
  const clock = { ...it.domain.clock, monotonicMs: () => (nowMs += 1_000) }
  await sql('DELETE FROM scheduler_lease')
  await sql('DELETE FROM scheduler_leader')
  const busy = await createLeader({ ...it.domain, clock }, 'sim')
  await startOne(600)
  const waiting: string[] = []
  for (let at = 0; at < 40; at++) waiting.push(await it.submit({ maxRunTimeSeconds: 60 }))
  await busy.tick()
  await busy.forecast()
  const found = await estimates(waiting)
  expect(waiting.filter((jobId) => found.get(jobId)?.p50)).toHaveLength(40)
  expect(busy.forecastPauseMs()).toBeLessThan(60_000)
})
