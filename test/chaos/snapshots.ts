import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { ask, type Json, streamSocket } from '../support/client.ts'
import type { Scenario } from './scenario.ts'
import { addSeqs, progressMs, retryMsMax, type Seqs, type Servers, sizes, withServers } from './two-servers.ts'
import { startLog, startWriters } from './writers.ts'

/** After a snapshot, its cursor leads to everything that is not in the snapshot, and to nothing else. */
export const snapshots: readonly Scenario[] = [
  { name: 'snapshot-then-stream', run: (context) => withServers(context, snapshotThenStream) },
]

const snapshot = `query ($id: ID!, $logId: ID!) { job(id: $id) { version eventCursor } jobs(first: 100) { asOf nodes { id version } }
  written: job(id: $logId) { logCursor logs(from: { lastLines: 1 }) { text cursor } } }`
const jobStatus = `subscription ($id: ID!, $after: Cursor) { jobStatus(jobId: $id, after: $after) {
  ... on JobTransitions { transitions { seq } } } }`
const jobUpdates = `subscription ($after: Cursor) { jobUpdates(after: $after) { ... on JobTransitions { job { id } transitions { seq } } } }`
const tail = 'subscription ($id: ID!, $after: Cursor) { tail(jobId: $id, after: $after) { ... on LogBatch { text } } }'
/** Number of events, and of lines, that are read after a snapshot. */
const eventsAfter = 40
/** Number of snapshots that are read at the same time. */
const lanes = 4
/** As many as two processors can write, number and deliver. */
const changesPerSecond = 1_500

/**
 * After `eventCursor`, the next event has the next number. After `asOf`, no event is missing that a row lacks. After
 * the end of a page of output, the next line has the next number, and after `logCursor` no line is missing.
 */
async function snapshotThenStream(servers: Servers): Promise<void> {
  const { urlOf, isFull, log } = servers
  const size = sizes[isFull ? 'full' : 'small']
  let isOver = false
  const sinceMs = performance.now()
  const { jobIds, made, done } = await startWriters(servers, size.writers, {
    wanted: () => ((performance.now() - sinceMs) / 1000) * changesPerSecond,
    isOver: () => isOver,
  })
  const written = await startLog(servers, () => isOver)
  let taken = 0
  const progress = setInterval(() => log(`${taken} snapshots, ${made.written} changes`), progressMs)
  const take = async () => {
    for (let n = taken++; n < size.snapshots; n = taken++)
      await demandHandOver(urlOf(), jobIds[n % jobIds.length] ?? '', written.jobId)
  }
  try {
    await Promise.all(Array.from({ length: lanes }, take))
    log(`${size.snapshots} snapshots by eventCursor, asOf and logCursor, ${made.written} changes meanwhile: exact`)
  } finally {
    clearInterval(progress)
    isOver = true
    await Promise.all([done, written.done])
  }
}

async function demandHandOver(url: string, id: string, logId: string): Promise<void> {
  const before = await lastLine(url, logId)
  const { job, jobs, written } = await whenServed(url, snapshot, { id, logId })
  const after = await lastLine(url, logId)
  const [own, all, page, rest] = await Promise.all([
    readSeqs(streamSocket(url, jobStatus, { id, after: job.eventCursor }), 'jobStatus', id),
    readSeqs(streamSocket(url, jobUpdates, { after: jobs.asOf }), 'jobUpdates'),
    readLines(url, logId, written.logs.cursor),
    readLines(url, logId, written.logCursor),
  ])
  demandConsecutive(own.get(id), job.version, 'eventCursor')
  for (const row of jobs.nodes) {
    const seqs = (all.get(row.id) ?? []).filter((seq) => seq > row.version)
    demandConsecutive(seqs, row.version, 'asOf')
  }
  demandConsecutive(page, linesOf(written.logs.text).at(-1) ?? 0, 'logs.cursor')
  const [first = 0] = rest
  demandConsecutive(rest, first - 1, 'logCursor')
  assert.ok(before < first && first <= after + 1, `logCursor: ${first} follows, between ${before} and ${after}`)
}

/** Retries while the server refuses because of overload. */
async function whenServed(url: string, query: string, variables: object): Promise<Record<string, Json>> {
  for (;;) {
    const answer = await ask(url, query, variables)
    if (answer.data && !answer.errors) return answer.data
    const codes = answer.errors?.map(({ extensions }) => extensions?.code)
    assert.deepEqual([...new Set(codes)], ['UNAVAILABLE'])
    await sleep(retryMsMax)
  }
}

async function lastLine(url: string, id: string): Promise<number> {
  const { job } = await whenServed(url, 'query ($id: ID!) { job(id: $id) { logs(from: { lastLines: 1 }) { text } } }', {
    id,
  })
  return linesOf(job.logs.text).at(-1) ?? 0
}

async function readLines(url: string, id: string, after: string): Promise<number[]> {
  const stream = streamSocket(url, tail, { id, after })
  const lines: number[] = []
  while (lines.length < eventsAfter) {
    const { value, done } = await stream.next()
    assert.ok(!done, 'the tail ended')
    lines.push(...linesOf(value?.data?.['tail'].text ?? ''))
  }
  stream.cut()
  return lines
}

const linesOf = (text: string) => text.split('\n').filter(Boolean).map(Number)

async function readSeqs(stream: ReturnType<typeof streamSocket>, field: string, only?: string): Promise<Seqs> {
  const seqs: Seqs = new Map()
  for (let count = 0; count < eventsAfter; ) {
    const { value, done } = await stream.next()
    assert.ok(!done, `${field} ended`)
    const { job, transitions = [] } = value?.data?.[field] ?? {}
    addSeqs(seqs, only ?? job?.id, transitions)
    count += transitions.length
  }
  stream.cut()
  return seqs
}

function demandConsecutive(seqs: readonly number[] = [], version: number, cursor: string) {
  assert.deepEqual(
    seqs,
    seqs.map((_, index) => version + 1 + index),
    cursor,
  )
}
