import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { createAppender, LogMoved, makeEmptyLog, openLog } from '../../src/logs/append.ts'
import { logChunkBytesMax } from '../../src/logs/chunk.ts'
import { readLog } from '../../src/logs/read.ts'
import type { Sql } from '../../src/platform/tx.ts'
import { openDatabase } from '../support/database.ts'
import { addJob, addUser } from '../support/factories.ts'
import { out } from '../support/log.ts'

const database = await openDatabase()
const userId = await addUser(database.db.sql, 'ada')

const bytesMax = 2 ** 34
const line = (text: string) => ({ pieces: [out(`${text}\n`)], position: { out: text.length + 1 }, bytesMax })
const newRuns = (count: number) => Promise.all(Array.from({ length: count }, () => addJob(database.db.sql, userId)))

const textOf = async (jobId: string) =>
  (await readLog(database.db.sql, { jobId, streams: ['STDOUT'], linesMax: 5_000 })).text

/** Records the names of statements. */
function noting(): { sql: Sql; names: (string | undefined)[] } {
  const names: (string | undefined)[] = []
  const { sql } = database.db
  return {
    names,
    sql: {
      query: (text, values, name) => {
        names.push(name)
        return sql.query(text, values, name)
      },
    },
  }
}

test('small appends of many runs share one statement, for new and existing logs', async () => {
  const { sql, names } = noting()
  const append = createAppender(sql)
  const runs = await newRuns(30)
  const heads = await Promise.all(runs.map(({ runId }) => append(makeEmptyLog(runId), line(`first of ${runId}`))))
  const told: string[] = []
  const onStored = (chunks: readonly { gap: string | null }[]) =>
    void told.push(...chunks.map((chunk) => String((chunk as { bytes?: Buffer }).bytes)))
  const next = await Promise.all(heads.map((head) => append(head, { ...line(`next of ${head.runId}`), onStored })))
  expect(names).toEqual(['append_logs', 'append_logs'])
  expect(told).toEqual(runs.map(({ runId }) => `next of ${runId}\n`))
  for (const [place, { jobId, runId }] of runs.entries()) {
    expect(await textOf(jobId)).toBe(`first of ${runId}\nnext of ${runId}\n`)
    expect(await openLog(database.db.sql, runId)).toEqual(next[place])
  }
})

test('a large append has its own statement', async () => {
  const { sql, names } = noting()
  const [run] = await newRuns(1)
  const bytes = randomBytes(logChunkBytesMax + 5)
  const append = createAppender(sql)
  await append(makeEmptyLog(run?.runId ?? ''), { pieces: [{ stream: 'STDOUT', bytes }], position: null, bytesMax })
  expect(names).toEqual(['append_log'])
  const [stored] = await database.db.sql.query<{ size: number }>(
    'SELECT sum(end_offset - start_offset)::int AS size FROM log_chunk WHERE run_id = $1',
    [run?.runId],
  )
  expect(stored?.size).toBe(bytes.length)
})

test('an append to a locked log does not delay other logs', async () => {
  const append = createAppender(database.db.sql)
  const [locked, free] = await newRuns(2)
  const heads = await Promise.all([locked, free].map((run) => append(makeEmptyLog(run?.runId ?? ''), line('one'))))
  const told: string[] = []
  let waits: Promise<unknown> | undefined
  await database.db.transaction(async (sql) => {
    await sql.query('SELECT 1 FROM run_log WHERE run_id = $1 FOR UPDATE', [locked?.runId])
    const [first, second] = heads.map((head) => append(head, line('two')))
    waits = first?.then(() => told.push('locked'))
    await second?.then(() => told.push('free'))
    expect(await append({ ...makeEmptyLog(''), ...(await second) }, line('three'))).toMatchObject({ end: 14 })
    expect(told).toEqual(['free'])
  })
  await waits
  expect(told).toEqual(['free', 'locked'])
  expect(await textOf(locked?.jobId ?? '')).toBe('one\ntwo\n')
  expect(await textOf(free?.jobId ?? '')).toBe('one\ntwo\nthree\n')
})

test('an append that the database rejects does not affect other appends', async () => {
  const append = createAppender(database.db.sql)
  const runs = await newRuns(5)
  const appends = runs.map(({ runId }, n) =>
    append(makeEmptyLog(runId), { ...line('text'), position: n === 2 ? { name: '\u0000' } : null }),
  )
  const results = await Promise.allSettled(appends)
  expect(results.map(({ status }) => status === 'fulfilled')).toEqual([true, true, false, true, true])
  const texts = await Promise.all(runs.map(({ jobId }) => textOf(jobId)))
  expect(texts).toEqual(['text\n', 'text\n', '', 'text\n', 'text\n'])
})

test('if many processes write at the same position, only one pump succeeds', async () => {
  const appenders = Array.from({ length: 4 }, () => createAppender(database.db.sql))
  const runs = await newRuns(20)
  const pumps = appenders.flatMap((append, n) =>
    (n % 2 === 0 ? runs : runs.toReversed()).flatMap(({ runId }) => [
      append(makeEmptyLog(runId), line(`pump ${n}`)),
      append(makeEmptyLog(runId), line(`pump ${n} again`)),
    ]),
  )
  const results = await Promise.allSettled(pumps)
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(runs.length)
  for (const result of results) if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(LogMoved)
  for (const { jobId } of runs) expect(await textOf(jobId)).toMatch(/^pump \d( again)?\n$/)
})
