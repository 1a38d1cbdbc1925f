import { expect, test } from 'vitest'
import type { LogPiece } from '../../src/logs/chunk.ts'
import { pageGapsMax, readLog } from '../../src/logs/read.ts'
import type { Sql } from '../../src/platform/tx.ts'
import { openDatabase } from '../support/database.ts'
import { addUser, storeLog } from '../support/factories.ts'
import { err, out } from '../support/log.ts'

/** Logs in which the requested output is sparse. */

const database = await openDatabase()
const userId = await addUser(database.db.sql, 'ada')
const mib = 2 ** 20
const other = out('a line of the other stream\n'.repeat(mib / 27))

const logOf = async (appends: readonly (readonly LogPiece[])[]) =>
  (await storeLog(database.db.sql, userId, [appends])).jobId

/** Counts the chunks that were read. */
function counting() {
  const counted = { chunks: 0 }
  const sql: Sql = {
    async query<Row>(text: string, values?: readonly unknown[], name?: string) {
      const rows = await database.db.sql.query<Row>(text, values, name)
      if (name === 'log_page' || name === 'log_page_back') counted.chunks += rows.length
      return rows
    },
  }
  return { counted, sql }
}

const times = <Item>(count: number, item: Item) => Array.from({ length: count }, () => item)
const beginning = { streams: ['STDERR'], linesMax: 500 } as const

test('a page skips chunks of other streams without reading them', async () => {
  const jobId = await logOf([[err('first\n')], ...times(16, [other]), [err('last\n')], ...times(16, [other])])
  const { sql, counted } = counting()
  const page = await readLog(sql, { ...beginning, jobId })
  expect(page).toMatchObject({ text: 'first\nlast\n', isFinal: true })
  expect(page.lines.map(({ text }) => text)).toEqual(['first', 'last'])
  expect(counted.chunks).toBeLessThan(20)
})

test('the last lines of a stream are found without reading the output of other streams after them', async () => {
  const jobId = await logOf([[err('first\nlast\n')], ...times(16, [other])])
  const { sql, counted } = counting()
  const page = await readLog(sql, { ...beginning, jobId, lastLines: 1 })
  expect(page).toMatchObject({ text: 'last\n', isFinal: true })
  expect(counted.chunks).toBeLessThan(20)
})

test('a page of a stream with little output ends after a limited number of bytes, and the next page continues', async () => {
  const jobId = await logOf(times(40, [other, err('.')]))
  const { sql, counted } = counting()
  let { text, cursor, isFinal } = await readLog(sql, { ...beginning, jobId })
  expect(text).not.toBe('')
  expect(isFinal).toBe(false)
  expect(counted.chunks).toBeLessThan(160)
  for (let pages = 1; !isFinal && pages < 5; pages++) {
    const page = await readLog(sql, { ...beginning, jobId, after: cursor })
    ;({ cursor, isFinal } = page)
    text += page.text
  }
  expect(text).toBe('.'.repeat(40))
})

test('long last lines begin within the searched part of the log', async () => {
  const jobId = await logOf([[err('begun ')], ...times(40, [err('x'.repeat(mib))])])
  const { sql, counted } = counting()
  const page = await readLog(sql, { ...beginning, jobId, lastLines: 1 })
  expect(page.text).toMatch(/^x+$/)
  expect(counted.chunks).toBeLessThan(160)
})

test('a page contains all gaps before its cursor, up to a limit', async () => {
  const gaps = times<LogPiece>(pageGapsMax + 200, { gap: 'LOST', bytes: 1 })
  const jobId = await logOf([[...gaps, err('after\n')]])
  const { sql } = database.db
  const first = await readLog(sql, { ...beginning, jobId })
  expect(first).toMatchObject({ text: '', isFinal: false })
  expect(first.gaps).toHaveLength(pageGapsMax)
  const rest = await readLog(sql, { ...beginning, jobId, after: first.cursor })
  expect(rest).toMatchObject({ text: 'after\n', isFinal: true })
  expect(rest.gaps).toHaveLength(200)
})
