import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type Api,
  connectApi,
  readJob,
  type StatusAnswer,
  statusQuery,
  type TailAnswer,
  tailQuery,
} from '../support/api.ts'
import { type BerthProcess, startBerthProcess } from '../support/berth-process.ts'
import { freePort } from '../support/berth-server.ts'
import { makeDirectory } from '../support/directory.ts'
import { until } from '../support/until.ts'
import { isWhole } from '../support/whole.ts'

/**
 * The README's guarantee for kill -9: jobs continue, and no byte or event is lost or repeated. `npm run test:whole`
 * kills three times.
 */
const linesTotal = isWhole ? 200_000 : 80_000
const secondsTotal = isWhole ? 20 : 8
const kills = isWhole ? 3 : 1

/** A job that prints numbered lines, evenly over the time, and writes the checksum of its output to a file. */
const printer = `
const hash = require('node:crypto').createHash('sha256')
let line = 0
const timer = setInterval(() => {
  let text = ''
  for (let i = 0; i < ${linesTotal / (secondsTotal * 20)}; i++) text += 'line ' + ++line + ' – ünïcode\\n'
  hash.update(text)
  process.stdout.write(text)
  if (line < ${linesTotal}) return
  clearInterval(timer)
  require('node:fs').writeFileSync(process.argv[1], hash.digest('hex'))
  process.exitCode = 7
}, 50)`

const dataDir = makeDirectory()
let port: number
let server: BerthProcess
let api: Api

beforeAll(async () => {
  port = await freePort()
  server = await startBerthProcess({ dataDir, port })
  api = connectApi(server.url)
})
afterAll(async () => {
  await api.close()
  await server.end()
})

test(`no line is lost: ${linesTotal} lines over ${secondsTotal} s; kills of the server: ${kills}`, {
  timeout: 600_000,
}, async () => {
  const checksumFile = join(dataDir, 'checksum')
  const jobId = await api.submit({ command: [process.execPath, '-e', printer, checksumFile], name: 'printer' })
  const [tailed, events] = [readTail(jobId), readStatus(jobId)]

  for (let kill = 1; kill <= kills; kill++) {
    const seen = kill * (linesTotal / (kills + 1))
    await until(async () => (await lastLineNumber(jobId)) >= seen, {
      what: `line ${seen} is stored`,
    })
    await server.end('SIGKILL')
    server = await startBerthProcess({ dataDir, port })
  }

  const text = await tailed
  const own = await readFile(checksumFile, 'utf8')
  expect(sha256(text)).toBe(own)
  expect(sha256(await readPages(jobId))).toBe(own)

  const seqs = await events
  expect(seqs).toEqual([1, 2, 3, 4])
  expect(await readJob(api, jobId)).toMatchObject({
    state: 'FAILED',
    exitCode: 7,
    version: 4,
    runs: { nodes: [{ number: 1, state: 'FAILED' }] },
  })
})

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

/** Reads the whole log by one resumed subscription. Offsets must be contiguous. */
async function readTail(jobId: string): Promise<string> {
  let text = ''
  let end = 0
  for await (const message of api.stream<TailAnswer>('tail', tailQuery, { jobId })) {
    expect(['LogBatch', 'RunChanged', 'StreamHeartbeat']).toContain(message.__typename)
    if (message.__typename !== 'LogBatch') continue
    expect(message.startOffset).toBe(end)
    end = message.endOffset
    text += message.text
    if (message.isFinal) expect(Buffer.byteLength(text)).toBe(end)
  }
  return text
}

async function readStatus(jobId: string): Promise<number[]> {
  const seqs: number[] = []
  const beginning = 1
  for await (const message of api.stream<StatusAnswer>('jobStatus', statusQuery, { jobId })) {
    if (message.__typename === 'JobTransitions') seqs.push(...message.transitions.map(({ seq }) => seq))
  }
  // Without a cursor, the stream begins with the event that led to the current state.
  return [...Array.from({ length: (seqs[0] ?? beginning) - beginning }, (_, i) => i + 1), ...seqs]
}

interface Page {
  text: string
  cursor: string
  isFinal: boolean
}

async function readPages(jobId: string): Promise<string> {
  const query =
    'query ($id: ID!, $from: LogStart) { job(id: $id) { logs(first: 5000, from: $from) { text cursor isFinal } } }'
  let text = ''
  let page: Page | undefined
  do {
    const answer = await api.ask<{ job: { logs: Page } }>(query, { id: jobId, from: page && { cursor: page.cursor } })
    page = answer.job.logs
    text += page.text
  } while (!page.isFinal)
  return text
}

async function lastLineNumber(jobId: string): Promise<number> {
  const query = 'query ($id: ID!) { job(id: $id) { logs(from: { lastLines: 1 }) { lines { number } } } }'
  const { job } = await api.ask<{ job: { logs: { lines: { number: number }[] } } }>(query, { id: jobId })
  return job.logs.lines[0]?.number ?? 0
}
