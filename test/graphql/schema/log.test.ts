import { describe, expect, it } from 'vitest'
import { ask, data, type Json } from '../../support/client.ts'
import { out, writeLog } from '../../support/log.ts'
import { openTestServer } from '../../support/server.ts'

const server = await openTestServer()

const lines = Array.from({ length: 20 }, (_, index) => `line ${index + 1}\n`)

async function jobWithLines(): Promise<string> {
  const id = await server.submit()
  await writeLog(server.domain.db.sql, id, [out(lines.join(''))])
  return id
}

const query = (args: string) =>
  `query ($id: ID!${args.includes('$cursor') ? ', $cursor: Cursor!' : ''}) { job(id: $id) { logs(${args}) {
     text firstLine startCursor cursor isFinal lines { number } } currentRun { logLines logBytes } } }`

const logs = async (id: string, args: string, cursor?: string) =>
  (await data(server.url, query(args), { id, ...(cursor && { cursor }) }))['job'].logs as Json

const withCursor = 'from: { cursor: $cursor }, '

describe('the start of a page of output', () => {
  it('may be a line of a run', async () => {
    const id = await jobWithLines()
    const page = await logs(id, 'run: 1, from: { line: 7 }, first: 2')
    expect(page).toMatchObject({ text: 'line 7\nline 8\n', firstLine: 7 })
    expect(await logs(id, `${withCursor}first: 1`, page.cursor)).toMatchObject({ text: 'line 9\n', firstLine: 9 })
    expect(await logs(id, `${withCursor}first: 1`, page.startCursor)).toMatchObject({ firstLine: 7 })
    expect(await logs(id, 'run: 1, from: { line: 21 }')).toMatchObject({ text: '', firstLine: null })
  })

  it('may be a time', async () => {
    const id = await jobWithLines()
    expect(await logs(id, 'from: { time: "2020-01-01T00:00:00Z" }, first: 1')).toMatchObject({ firstLine: 1 })
    expect(await logs(id, 'from: { time: "2999-01-01T00:00:00Z" }')).toMatchObject({ text: '', firstLine: null })
  })

  it('is counted back from the end if lastLines or before is given', async () => {
    const id = await jobWithLines()
    const last = await logs(id, 'from: { lastLines: 3 }')
    expect(last).toMatchObject({ text: 'line 18\nline 19\nline 20\n', firstLine: 18 })
    const before = await logs(id, 'from: { before: $cursor }, first: 2', last.startCursor)
    expect(before).toMatchObject({ text: 'line 16\nline 17\n', cursor: last.startCursor })
    const rest = await logs(id, 'from: { before: $cursor }', before.startCursor)
    expect(rest).toMatchObject({ firstLine: 1, cursor: before.startCursor })
    expect(await logs(id, 'from: { before: $cursor }', rest.startCursor)).toMatchObject({ text: '', firstLine: null })
  })

  it.each([
    ['from: { line: 1 }', '`from.line` needs `run`: every run counts its lines'],
    ['from: { line: 0 }, run: 1', '`from.line` must be 1 or more'],
    ['from: { lastLines: 0 }', '`lastLines` must be 1 … 5000, not 0'],
    ['from: { before: $cursor }, first: 5001', '`first` must be 1 … 5000, not 5001'],
  ])('is refused: %s', async (args, message) => {
    const id = await jobWithLines()
    const { cursor } = await logs(id, 'first: 1')
    const { errors } = await ask(server.url, query(args), { id, cursor })
    expect(errors?.[0]).toMatchObject({ message, extensions: { code: 'BAD_REQUEST' } })
  })

  it('is refused if it is a cursor of another job or beyond the end', async () => {
    const [one, other] = [await jobWithLines(), await jobWithLines()]
    const { cursor } = await logs(one, 'first: 1')
    const content = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    const beyond = Buffer.from(JSON.stringify({ ...content, o: 10_000 })).toString('base64url')
    for (const [id, before] of [
      [other, cursor],
      [one, beyond],
    ]) {
      const { errors } = await ask(server.url, query('from: { before: $cursor }'), { id, cursor: before })
      expect(errors?.[0]?.extensions.code).toBe('INVALID_CURSOR')
    }
  })
})

it('a run shows its number of lines', async () => {
  const id = await jobWithLines()
  const count = async () => (await data(server.url, query('first: 1'), { id }))['job'].currentRun as Json
  expect(await count()).toEqual({ logLines: 20, logBytes: lines.join('').length })
  await writeLog(server.domain.db.sql, id, [out('open')])
  expect((await count()).logLines).toBe(21)
  const empty = await server.submit()
  expect((await data(server.url, query('first: 1'), { id: empty }))['job'].currentRun).toEqual({
    logLines: 0,
    logBytes: 0,
  })
})

describe('a log search', () => {
  const searchQuery = `query ($id: ID!, $query: String!, $regex: Boolean, $ignoreCase: Boolean, $after: Cursor,
      $backwards: Boolean, $first: Int, $run: Int, $streams: [LogStream!]) {
    job(id: $id) { logSearch(query: $query, regex: $regex, ignoreCase: $ignoreCase, after: $after, backwards: $backwards,
        first: $first, run: $run, streams: $streams) {
      matches { runNumber line at stream text starts ends } cursor isComplete scannedBytes } } }`
  const search = async (id: string, args: object) =>
    (await data(server.url, searchQuery, { id, ...args }))['job'].logSearch as Json

  it('returns lines and the positions of the matches in them', async () => {
    const id = await jobWithLines()
    const found = await search(id, { query: 'LINE 1' })
    expect(found).toMatchObject({ isComplete: true, scannedBytes: lines.join('').length })
    expect(found.matches).toHaveLength(11)
    expect(found.matches[0]).toEqual({
      runNumber: 1,
      line: 1,
      at: expect.stringContaining('T'),
      stream: 'STDOUT',
      text: 'line 1',
      starts: [0],
      ends: [6],
    })
    const digits = await search(id, { query: '\\d', regex: true, first: 1, backwards: true })
    expect(digits.matches).toMatchObject([{ line: 20, starts: [5, 6], ends: [6, 7] }])
    expect((await search(id, { query: 'LINE', ignoreCase: false })).matches).toEqual([])
    expect((await search(id, { query: 'line', streams: ['STDERR'] })).matches).toEqual([])
    expect((await search(id, { query: 'line', run: 2 })).matches).toEqual([])
  })

  it('continues from its cursor, or from the cursor of a page', async () => {
    const id = await jobWithLines()
    const first = await search(id, { query: 'line', first: 3 })
    expect(first).toMatchObject({ isComplete: false })
    const next = await search(id, { query: 'line', first: 1, after: first.cursor })
    expect(next.matches).toMatchObject([{ line: 4 }])
    const { startCursor } = await logs(id, 'run: 1, from: { line: 9 }')
    const before = await search(id, { query: 'line', first: 1, after: startCursor, backwards: true })
    expect(before.matches).toMatchObject([{ line: 8 }])
    const behind = await search(id, { query: 'line', first: 1, after: startCursor })
    expect(behind.matches).toMatchObject([{ line: 9 }])
  })

  it.each([
    [{ query: '' }, '`query` cannot be searched for: The text must have 1 … 255 characters'],
    [{ query: '(', regex: true }, '`query` cannot be searched for: Unmatched ('],
    [{ query: 'a\nb' }, '`query` cannot be searched for: The pattern of a line must not contain a line ending'],
    [{ query: 'a', first: 0 }, '`first` must be 1 … 1000, not 0'],
    [{ query: 'a', first: 1_001 }, '`first` must be 1 … 1000, not 1001'],
    [{ query: 'a', run: 0 }, '`run` must be 1 or more'],
  ])('is refused: %j', async (args, message) => {
    const { errors } = await ask(server.url, searchQuery, { id: await jobWithLines(), ...args })
    expect(errors?.[0]).toMatchObject({ message, extensions: { code: 'BAD_REQUEST' } })
  })

  it('costs as much as a quarter of a second of processor time', async () => {
    const { extensions } = await ask(server.url, searchQuery, { id: await jobWithLines(), query: 'a', first: 10 })
    expect(extensions?.cost).toBeGreaterThan(25_000)
    expect(extensions?.cost).toBeLessThan(26_000)
  })
})
