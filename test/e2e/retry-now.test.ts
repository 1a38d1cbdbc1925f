import { beforeEach, expect, test } from 'vitest'
import { openServer } from '../support/api.ts'
import { CommandLine } from '../support/command-line.ts'
import { until } from '../support/until.ts'

/** Previews and noWait of a retry, which are ordinary submissions to the leader. */

/** Id of an ended job. */
let original: string

const { api, database, dataDir, server } = await openServer()
const { berth } = new CommandLine(dataDir, { BERTH_URL: server.url })
beforeEach(async () => {
  original = await api.submit({ command: ['true'], name: 'first' })
  await settled(original)
})

const settled = (id: string) =>
  until(
    async () => {
      const { job } = await api.ask<{ job: { stateCategory: string } }>(
        'query ($id: ID!) { job(id: $id) { stateCategory } }',
        { id },
      )
      return job.stateCategory === 'FINAL'
    },
    { what: 'the job is over' },
  )

interface Answer {
  __typename: string
  code?: string
  wouldBe?: string
  reasons?: { code: string }[]
  idempotentHit?: boolean
  idempotentJob?: { id: string } | null
  job?: { id: string; state: string; name: string | null; retryOf: { id: string } | null }
}

async function retry(wish: Record<string, unknown>, jobId = original): Promise<Answer> {
  const query = `mutation ($input: RetryJobInput!) { retryJob(input: $input) { __typename
    ... on RetryJobSuccess { idempotentHit job { id state name retryOf { id } } }
    ... on RejectedProblem { reasons { code } } ... on Problem { code } } }`
  return (await api.ask<{ retryJob: Answer }>(query, { input: { jobId, ...wish } })).retryJob
}

async function preview(wish: Record<string, unknown>, jobId = original): Promise<Answer> {
  const query = `query ($input: PreviewJobInput!) { previewJob(input: $input) { __typename
    ... on JobPreview { wouldBe reasons { code } idempotentJob { id } spec { name } }
    ... on Problem { code } } }`
  return (await api.ask<{ previewJob: Answer }>(query, { input: { retry: { jobId, ...wish } } })).previewJob
}

const retryNow = (wish: Record<string, unknown>, jobId = original) => retry({ ...wish, noWait: true }, jobId)

/** Counts the rows of all tables that a submission writes. */
async function written() {
  const tables = ['job', 'run', 'queue_entry', 'idempotency_key', 'usage_ledger', 'question', 'approval']
  const counts = tables.map((table) => `(SELECT count(*)::int FROM ${table}) AS ${table}`)
  const [row] = await database.db.sql.query(
    `SELECT ${counts.join(', ')}, (SELECT count(*)::int FROM event e WHERE job_id = $1) AS events,
       (SELECT count(*)::int FROM audit_entry WHERE action LIKE 'job.%') AS audit_entry`,
    [original],
  )
  return row
}

const pause = (maxConcurrent: number | null) =>
  api.ask('mutation ($input: UpdateLimitsInput!) { updateLimits(input: $input) { __typename } }', {
    input: { maxConcurrent },
  })

test('a preview of a retry reports the outcome and writes no rows', async () => {
  const before = await written()
  const overrides = { name: 'again' }
  expect(await preview({ overrides, idempotencyKey: 'dry' })).toEqual({
    __typename: 'JobPreview',
    wouldBe: 'STARTING',
    reasons: [],
    idempotentJob: null,
    spec: { name: 'again' },
  })
  await pause(0)
  expect(await preview({ noWait: true })).toMatchObject({ wouldBe: 'QUEUED', reasons: [{ code: 'POOL_PAUSED' }] })
  await pause(null)
  expect(await written()).toEqual(before)
})

test('a retry with noWait starts now under its own key, or is rejected and stores no job', async () => {
  const before = await written()
  await pause(0)
  const wish = { noWait: true, overrides: { name: 'now' }, idempotencyKey: `now-${original}` }
  expect(await retry(wish)).toMatchObject({ code: 'REJECTED', reasons: [{ code: 'POOL_PAUSED' }] })
  expect(await written()).toEqual(before)
  await pause(null)
  const first = await retry(wish)
  expect(first).toMatchObject({ idempotentHit: false, job: { name: 'now', retryOf: { id: original } } })
  expect(first.job?.state).not.toBe('QUEUED')
  const [entry] = await database.db.sql.query(
    "SELECT detail FROM audit_entry WHERE action = 'job.retry' AND object_id = $1",
    [first.job?.id],
  )
  expect(entry).toEqual({ detail: { retryOf: original } })
})

test('a stored key returns its job for a retry, a preview and noWait, even if the original was deleted', async () => {
  const wish = { overrides: { notBefore: '2026-01-01T00:00:00+01:00' }, idempotencyKey: `key-${original}` }
  const { job } = await retryNow(wish)
  const id = job?.id ?? ''
  await settled(id)
  expect(await retry(wish)).toMatchObject({ idempotentHit: true, job: { id } })
  for (const form of [retry, preview, retryNow])
    expect(await form({ ...wish, overrides: { name: 'x' } })).toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' })
  await api.ask('mutation ($id: ID!) { deleteJob(input: { jobId: $id }) { __typename } }', { id: original })
  for (const form of [retry, retryNow])
    expect(await form(wish)).toMatchObject({ idempotentHit: true, job: { id, retryOf: null } })
  expect(await preview(wish)).toMatchObject({ wouldBe: 'SUCCEEDED', idempotentJob: { id } })
})

test.each([preview, retryNow])('$name is rejected for the same reasons as a retry', async (form) => {
  const alive = await api.submit({ command: ['sleep', '60'] })
  expect(await form({}, alive)).toMatchObject({ code: 'INVALID_STATE' })
  expect(await form({}, 'job_none')).toMatchObject({ code: 'NOT_FOUND' })
  expect(await form({ expectedVersion: 1 })).toMatchObject({ code: 'VERSION_CONFLICT' })
  expect(await form({ overrides: { queue: 'nowhere' } })).toMatchObject({ code: 'INVALID_INPUT' })
  expect(await form({ slotReservationId: 'slot_none' })).toMatchObject({ code: 'RESERVATION_EXPIRED' })
  await api.ask('mutation ($id: ID!) { cancelJob(input: { jobId: $id }) { __typename } }', { id: alive })
})

test('retry --dry-run and --no-wait work on the command line', async () => {
  const dry = await berth('retry', original, '--dry-run', '--name', 'again', '-o', 'json')
  expect(JSON.parse(dry.stdout)).toMatchObject({ wouldBe: 'STARTING', reasons: [] })
  const now = await berth('retry', original, '--no-wait', '--name', 'again', '-o', 'json')
  expect(JSON.parse(now.stdout)).toMatchObject({ job: { name: 'again' }, idempotentHit: false })
  await pause(0)
  expect(await berth('retry', original, '--no-wait')).toMatchObject({ code: 4, stdout: '' })
  await pause(null)
})
