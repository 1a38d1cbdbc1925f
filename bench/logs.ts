import { spawn } from 'node:child_process'
import { createHash, type Hash } from 'node:crypto'
import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { createAppender, openLog, sealLog } from '../src/logs/append.ts'
import { openDb } from '../src/platform/db.ts'
import { createLog } from '../src/platform/log.ts'
import { percentile, poster, printLines } from './harness.ts'
import { withDatabases, withFolder, withServer } from './server.ts'

/**
 * A log of 1 GiB (or as many MiB as the first argument says) of numbered lines: pages far into it, searches through all of
 * it beside `grep -c`, and its download, whole and in two parts.
 */
const mebibytes = Number(process.argv[2] ?? 1_024)
const pages = 20
const lineWords = [
  'epoch 31/50 loss 0.4127',
  'validation accuracy 0.9312 best so far',
  'saved checkpoint to /data/run',
  'step',
]

const lineAt = (number: number) =>
  `2026-11-24T14:02:11.000Z ${number} ${lineWords[number % lineWords.length]}${number % 100_000 === 7 ? ' Error: out of memory' : ''}\n`

interface Stored {
  jobId: string
  lines: number
  bytes: number
  hash: string
}

async function submit(send: (body: string) => Promise<string>): Promise<string> {
  const notBefore = new Date(Date.now() + 86_400_000).toISOString()
  const query = `mutation { submitJob(input: { spec: { command: ["true"], notBefore: "${notBefore}" } }) {
    ... on SubmitJobSuccess { job { id } } } }`
  const { data } = JSON.parse(await send(JSON.stringify({ query }))) as { data: { submitJob: { job: { id: string } } } }
  return data.submitJob.job.id
}

/** Appends lines like a job that prints fast. */
async function fill(databaseUrl: string, jobId: string, take: (bytes: Buffer) => Promise<void>): Promise<Stored> {
  const db = openDb({
    address: { url: databaseUrl },
    connectionsMax: 2,
    log: createLog('error'),
    applicationName: 'bench',
  })
  const append = createAppender(db.sql)
  const [run] = await db.sql.query<{ id: string }>('SELECT id FROM run WHERE job_id = $1', [jobId])
  const runId = run?.id ?? ''
  const hash: Hash = createHash('sha256')
  let head = await openLog(db.sql, runId)
  let lines = 0
  while (head.end < mebibytes * 2 ** 20) {
    let text = ''
    while (text.length < 262_144) text += lineAt(++lines)
    const bytes = Buffer.from(text)
    hash.update(bytes)
    head = await append(head, { pieces: [{ stream: 'STDOUT', bytes }], position: null, bytesMax: 2 ** 40 })
    await take(bytes)
  }
  await sealLog(db.sql, [runId])
  await db.close()
  return { jobId, lines, bytes: head.end, hash: hash.digest('hex') }
}

async function measurePages(send: (body: string) => Promise<string>, { jobId, lines }: Stored): Promise<void> {
  const far = Math.min(5_000_000, lines - 1_000)
  const middle = `logs(run: 1, from: { line: ${Math.floor(lines / 2)} }, first: 1) { cursor lines { at } }`
  const {
    cursor,
    lines: [line],
  } = (JSON.parse(await send(buildQuery(jobId, middle))) as Page).data.job.logs
  const places: Readonly<Record<string, string>> = {
    'from the beginning': 'first: 1000',
    'after a cursor': `first: 1000, from: { cursor: "${cursor}" }`,
    [`from line ${far}`]: `first: 1000, run: 1, from: { line: ${far} }`,
    'from a moment': `first: 1000, from: { time: "${line?.at}" }`,
    'before a cursor': `first: 1000, from: { before: "${cursor}" }`,
    'the last lines': 'first: 1000, from: { lastLines: 1000 }',
  }
  const rows: string[][] = []
  for (const [name, args] of Object.entries(places)) {
    const tookMs: number[] = []
    for (let turn = 0; turn < pages; turn++) {
      const began = performance.now()
      await send(buildQuery(jobId, `logs(${args}) { firstLine cursor lines { number text } }`))
      tookMs.push(performance.now() - began)
    }
    rows.push([name, ...[0.5, 0.9].map((each) => `${percentile(tookMs, each).toFixed(1)} ms`)])
  }
  printLines('A page of 1,000 lines', [['', 'p50', 'p90'], ...rows])
}

interface Page {
  data: { job: { logs: { cursor: string; lines: { at: string }[] } } }
}

const buildQuery = (jobId: string, selection: string) =>
  JSON.stringify({ query: `{ job(id: "${jobId}") { ${selection} } }` })

interface Found {
  data: { job: { logSearch: { matches: unknown[]; cursor: string; isComplete: boolean } } }
}

const searches: readonly (readonly [query: string, regex: boolean])[] = [
  ['out of memory', false],
  ['Error: [a-z]+ of (memory|space)$', true],
]

async function measureSearch(send: (body: string) => Promise<string>, { jobId }: Stored, greps: readonly Grep[]) {
  const rows: string[][] = []
  for (const [index, [query, regex]] of searches.entries()) {
    const began = performance.now()
    let requests = 0
    let matches = 0
    let longestMs = 0
    for (let after = '', isComplete = false; !isComplete; requests++) {
      const sent = performance.now()
      const args = `query: ${JSON.stringify(query)}, regex: ${regex}, ignoreCase: false, first: 1000${after}`
      const text = await send(buildQuery(jobId, `logSearch(${args}) { matches { line text } cursor isComplete }`))
      const found = (JSON.parse(text) as Found).data.job.logSearch
      longestMs = Math.max(longestMs, performance.now() - sent)
      matches += found.matches.length
      after = `, after: "${found.cursor}"`
      isComplete = found.isComplete
    }
    const seconds = (performance.now() - began) / 1_000
    const rate = `${(mebibytes / seconds).toFixed(0)} MiB/s`
    const { count = 0, seconds: grepSeconds = 0 } = greps[index] ?? {}
    const cells = [
      `${seconds.toFixed(1)} s`,
      rate,
      requests,
      `${longestMs.toFixed(0)} ms`,
      matches,
      count,
      `${grepSeconds.toFixed(1)} s`,
    ]
    rows.push([query, ...cells.map(String)])
  }
  printLines('A search through the whole log', [
    ['', 'time', 'rate', 'requests', 'longest', 'matches', 'grep -c', 'time'],
    ...rows,
  ])
}

/** Downloads the file, or its first bytes. */
async function download(url: string, hash: Hash, { from = 0, bytes = Number.POSITIVE_INFINITY }): Promise<number> {
  const sent = request(url, { headers: from > 0 ? { range: `bytes=${from}-` } : {}, agent: false })
  sent.on('error', () => undefined)
  sent.end()
  const [response] = await once(sent, 'response')
  let left = bytes
  for await (const part of response as AsyncIterable<Buffer>) {
    hash.update(part.subarray(0, left))
    left -= Math.min(left, part.length)
    if (left === 0) break
  }
  sent.destroy()
  return bytes - left
}

async function measureDownload(url: string, stored: Stored): Promise<void> {
  const file = `${url}/download/jobs/${stored.jobId}/log`
  const whole = createHash('sha256')
  const began = performance.now()
  await download(file, whole, {})
  const seconds = (performance.now() - began) / 1_000
  const parts = createHash('sha256')
  const half = Math.floor(stored.bytes / 2)
  await download(file, parts, { bytes: half })
  const resumed = performance.now()
  await download(file, parts, { from: half })
  const resumedSeconds = (performance.now() - resumed) / 1_000
  const isSame = (hash: Hash) => (hash.digest('hex') === stored.hash ? 'equal' : 'DIFFERENT')
  printLines(`Downloads of ${(stored.bytes / 2 ** 20).toFixed(0)} MiB`, [
    ['', 'time', 'rate', 'hash'],
    ['whole', `${seconds.toFixed(1)} s`, `${(mebibytes / seconds).toFixed(0)} MiB/s`, isSame(whole)],
    [
      'second half after a break',
      `${resumedSeconds.toFixed(1)} s`,
      `${(mebibytes / 2 / resumedSeconds).toFixed(0)} MiB/s`,
      isSame(parts),
    ],
  ])
}

interface Grep {
  count: number
  seconds: number
}

/** Runs `grep -c` over the same bytes in a file. */
async function runGrep(file: string, query: string, regex: boolean): Promise<Grep> {
  const began = performance.now()
  const child = spawn('grep', ['-c', '-a', regex ? '-E' : '-F', query, file], { stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  child.stdout.on('data', (part: Buffer) => {
    text += part
  })
  await once(child, 'close')
  return { count: Number(text), seconds: (performance.now() - began) / 1_000 }
}

async function measureLog(databaseUrl: string, url: string, folder: string): Promise<void> {
  const { send, close } = poster(url, 1)
  const path = join(folder, 'log')
  const file = await open(path, 'w')
  const stored = await fill(databaseUrl, await submit(send), (bytes) => file.appendFile(bytes))
  await file.close()
  process.stdout.write(`${stored.lines} lines, ${(stored.bytes / 2 ** 20).toFixed(0)} MiB\n`)
  const greps: Grep[] = []
  for (const [query, regex] of searches) greps.push(await runGrep(path, query, regex))
  await measurePages(send, stored)
  await measureSearch(send, stored, greps)
  await measureDownload(url, stored)
  close()
}

await withDatabases(['logs'], async (urls) => {
  const databaseUrl = urls.get('logs') ?? ''
  await withFolder((folder) => withServer((url) => measureLog(databaseUrl, url, folder), { DATABASE_URL: databaseUrl }))
})
