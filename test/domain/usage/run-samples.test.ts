import { expect, test } from 'vitest'
import { mergeSamples, type RunSample, removeSamples, saveSamples } from '../../../src/domain/usage/run-samples.ts'
import { openDatabase } from '../../support/database.ts'
import { addJob, addUser } from '../../support/factories.ts'
import { readRunSamples } from '../../support/samples.ts'

const database = await openDatabase()
const { sql } = database.db
const userId = await addUser(sql, 'ada')

const sample = (runId: string, values: Partial<RunSample>): RunSample => ({
  runId,
  cpuCores: null,
  memoryBytes: null,
  gpuPercent: null,
  gpuMemoryBytes: null,
  ...values,
})

/** Samples every 10 s up to now; the number of cores of a sample is its index. */
const fillSql = `
INSERT INTO run_sample (run_id, seconds, at, cpu_cores, memory_bytes)
SELECT $1, 10, date_bin('1 hour', berth_now(), to_timestamp(0)) - ($2::int - n) * interval '10 seconds', n, n * 1000
FROM generate_series(0, $2::int - 1) n`

async function countByLength(runId: string): Promise<Record<number, number>> {
  const rows = await sql.query<{ seconds: number; count: number }>(
    'SELECT seconds, count(*) AS count FROM run_sample WHERE run_id = $1 GROUP BY seconds',
    [runId],
  )
  return Object.fromEntries(rows.map(({ seconds, count }) => [seconds, count]))
}

test('samples of one call are stored with the same time, and samples of deleted runs are left out', async () => {
  const [a, b] = [await addJob(sql, userId), await addJob(sql, userId)]
  await saveSamples(sql, [
    sample(a.runId, { cpuCores: 0.5, memoryBytes: 2 ** 40, gpuPercent: 12.5, gpuMemoryBytes: 2 ** 35 }),
    sample(b.runId, { memoryBytes: 1 }),
    sample('run_deleted', { memoryBytes: 1 }),
  ])
  const [first] = await readRunSamples(sql, a.runId, 10)
  expect(first).toEqual({
    at: expect.any(Date),
    cpuCores: 0.5,
    memoryBytes: 2 ** 40,
    gpuPercent: 12.5,
    gpuMemoryBytes: 2 ** 35,
  })
  expect(await readRunSamples(sql, b.runId, 10)).toEqual([
    { at: first?.at, cpuCores: null, memoryBytes: 1, gpuPercent: null, gpuMemoryBytes: null },
  ])
})

test('samples are merged into periods of equal length if there are more than the requested points', async () => {
  const { runId } = await addJob(sql, userId)
  await sql.query(fillSql, [runId, 100])
  expect(await readRunSamples(sql, runId, 100)).toHaveLength(100)
  const points = await readRunSamples(sql, runId, 10)
  expect(points).toHaveLength(10)
  expect(points[0]).toMatchObject({ cpuCores: 4.5, memoryBytes: 9_000 })
  expect(points.at(-1)).toMatchObject({ cpuCores: 94.5, memoryBytes: 99_000 })
  expect(await readRunSamples(sql, runId, 1)).toMatchObject([{ cpuCores: 49.5, memoryBytes: 99_000 }])
})

test('samples of a running run are merged into minutes after an hour, and into longer periods later', async () => {
  const { runId } = await addJob(sql, userId)
  await sql.query(fillSql, [runId, 2 * 360])
  await mergeSamples(sql, [runId])
  const counts = await countByLength(runId)
  expect(counts[60]).toBeGreaterThanOrEqual(60)
  expect((counts[10] ?? 0) + 6 * (counts[60] ?? 0)).toBe(720)
  const [first] = await readRunSamples(sql, runId, 1_000)
  expect(first).toMatchObject({ cpuCores: 2.5, memoryBytes: 5_000 })
  await mergeSamples(sql, [runId])
  expect(await countByLength(runId)).toEqual(counts)

  await database.moveTime(26 * 3_600_000)
  await mergeSamples(sql, [runId])
  await mergeSamples(sql, [runId])
  expect(await countByLength(runId)).toEqual({ 600: 12 })
  await database.moveTime(31 * 86_400_000)
  await mergeSamples(sql, [runId])
  expect(await countByLength(runId)).toEqual({ 3600: 2 })
})

test('a run of a year has a bounded number of samples', async () => {
  const { runId } = await addJob(sql, userId)
  for (const [seconds, days] of [
    [10, 0.1],
    [60, 2],
    [600, 365],
  ])
    await sql.query(
      `INSERT INTO run_sample (run_id, seconds, at, cpu_cores)
       SELECT $1, $2::int, berth_now() - n * $2::int * interval '1 second', 1 FROM generate_series(1, $3::int) n`,
      [runId, seconds, ((days ?? 0) * 86_400) / (seconds ?? 1)],
    )
  for (let n = 0; n < 3; n++) await mergeSamples(sql, [runId])
  const total = Object.values(await countByLength(runId)).reduce((sum, count) => sum + count, 0)
  expect(total).toBeLessThan(15_000)
  expect(await readRunSamples(sql, runId, 240)).toHaveLength(240)
})

test('samples are deleted with the log of a job, and with the job', async () => {
  const [old, gone] = [await addJob(sql, userId), await addJob(sql, userId)]
  for (const { runId } of [old, gone]) await saveSamples(sql, [sample(runId, { memoryBytes: 1 })])
  await removeSamples(sql, [old.jobId])
  expect(await countByLength(old.runId)).toEqual({})
  await sql.query('DELETE FROM job WHERE id = $1', [gone.jobId])
  expect(await countByLength(gone.runId)).toEqual({})
})
