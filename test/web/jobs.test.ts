import { expect, it } from 'vitest'
import { actOnIds, actOnMatching, type BulkRequest } from '../../web/features/jobs/actions/act-on-jobs.ts'
import { describeMatching, toBerthCommand } from '../../web/features/jobs/actions/bulk-words.ts'
import type { JobRow } from '../../web/features/jobs/rows/job-store.ts'
import { abridgePlace, describeRequest } from '../../web/features/jobs/rows/place.ts'
import { fitColumns } from '../../web/pages/jobs/fit-columns.ts'
import { findVisible } from '../../web/pages/jobs/visible-rows.ts'
import { drawLine } from '../../web/pages/overview/draw-line.ts'

const cancel: BulkRequest = { action: 'CANCEL', idempotencyKey: 'k' }
const done = (jobIds: readonly string[], remaining: number) => ({
  __typename: 'CancelJobsSuccess',
  remaining,
  results: jobIds.map((jobId) => ({ jobId, result: { __typename: 'CancelJobSuccess', changed: true } })),
})

/** Makes a client with these responses in order, and records the selections that it sends. */
function answering(...answers: object[]) {
  const sent: object[] = []
  const request = async (_document: unknown, { input }: { input: { selection: object } }) => {
    sent.push(input.selection)
    return { cancelJobs: answers.shift() }
  }
  return { client: { request } as never, sent }
}

it('an action on more than 1,000 jobs needs several requests, and lists the refused jobs', async () => {
  const ids = Array.from({ length: 1_500 }, (_, i) => `job_${i}`)
  const second = done(ids.slice(1_000), 0)
  second.results[0] = { jobId: 'job_1000', result: { __typename: 'ForbiddenProblem', message: 'not yours' } } as never
  const { client, sent } = answering(done(ids.slice(0, 1_000), 0), second)
  const progress: number[] = []
  const result = await actOnIds(client, cancel, ids, (count) => progress.push(count))
  expect(result).toEqual({ kind: 'DONE', done: 1_499, refused: [{ id: 'job_1000', message: 'not yours' }] })
  expect([sent.length, progress]).toEqual([2, [1_000, 1_499]])
})

it('an action by filter expects the remaining number each time, and ends when nothing changes', async () => {
  const { client, sent } = answering(done(['a', 'b'], 1), {
    ...done(['c'], 1),
    results: [{ jobId: 'c', result: { __typename: 'X', message: 'no' } }],
  })
  const matching = { filter: {}, expectedCount: 3 }
  const result = await actOnMatching(client, cancel, matching, () => undefined)
  expect(result).toEqual({ kind: 'DONE', done: 2, refused: [{ id: 'c', message: 'no' }] })
  expect(sent).toEqual([3, 1].map((expectedCount) => ({ matching: { filter: {}, expectedCount } })))
})

it('an action by filter changes nothing if the number of matching jobs differs from the confirmed one', async () => {
  const { client } = answering({ __typename: 'CountMismatchProblem', actualCount: 7, message: '' })
  const result = await actOnMatching(client, cancel, { filter: {}, expectedCount: 3 }, () => undefined)
  expect(result).toEqual({ kind: 'MISMATCH', actualCount: 7, done: 0 })
})

it('jobs that end between two requests do not stop an action by filter', async () => {
  const { client, sent } = answering(
    done(['a', 'b'], 4),
    { __typename: 'CountMismatchProblem', actualCount: 2, message: '' },
    done(['c', 'd'], 0),
  )
  const result = await actOnMatching(client, cancel, { filter: {}, expectedCount: 6 }, () => undefined)
  expect([result, sent.length]).toEqual([{ kind: 'DONE', done: 4, refused: [] }, 3])
})

it('a dialog shows the effect of an action, and the command with the same effect', () => {
  const counts = new Map([
    ['RUNNING', 2],
    ['QUEUED', 1],
    ['FAILED', 9],
  ])
  expect(describeMatching('CANCEL', 3, counts)).toContain('Stops 2 running jobs, and 1 waiting job leaves the queue.')
  expect(toBerthCommand('DELETE', ['a', 'b'])).toBe('berth rm a b')
  expect(toBerthCommand('CANCEL', ['a', 'b', 'c', 'd', 'e', 'f'])).toBe('berth cancel a b c d e …')
  expect(toBerthCommand('RETRY', ['a', 'b'])).toBeNull()
})

const columns = ['state', 'name', 'who', 'where', 'cost'].map((key, i) => ({
  key,
  track: 'minmax(100px, 1fr)',
  rank: [0, 0, 2, 1, 3][i] as number,
}))

it.each([
  [2_000, 'state,name,who,where,cost'],
  [600, 'state,name,who,where'],
  [450, 'state,name,where'],
  [100, 'state,name'],
])('a table of jobs with a width of %d px has the columns %s', (width, keys) => {
  const shown = fitColumns(columns, new Set(['who', 'where', 'cost']), width)
  expect(shown.map(({ key }) => key).join()).toBe(keys)
})

const asked = (more: object) =>
  describeRequest({
    resources: { cpu: 4, memoryBytes: 16 * 2 ** 30, gpu: 0, gpuModel: [], gpuMemoryBytes: null, replicas: 1, ...more },
  } as unknown as JobRow)

it.each([
  [{}, '4 cores · 16 GiB'],
  [{ cpu: 1 }, '1 core · 16 GiB'],
  [{ gpu: 2, gpuMemoryBytes: 40 * 2 ** 30 }, '2 GPU · ≥ 40 GiB'],
  [{ gpu: 8, gpuModel: ['a100'] }, '8 a100 · 16 GiB'],
  [{ replicas: 3 }, '3 × (4 cores · 16 GiB)'],
])('requested resources %o are shown as %s', (more, text) => expect(asked(more)).toBe(text))

it('findVisible returns a range with all visible rows, within the list', () => {
  for (const top of [0, 10, 1_000, 35_000, 36_000]) {
    const { from, to } = findVisible(top, 700, { count: 1_000, height: 36 })
    expect(from).toBeLessThanOrEqual(Math.floor(top / 36))
    expect(to).toBeGreaterThanOrEqual(Math.min(1_000, Math.ceil((top + 700) / 36)))
    expect([from >= 0, to <= 1_000, to - from < 60]).toEqual([true, true, true])
  }
  expect(findVisible(900, 700, { count: 0, height: 36 })).toEqual({ from: 0, to: 0 })
})

it('drawLine covers the whole width, with 0 at the bottom', () => {
  expect(drawLine([0, 5, 10], 10)).toBe('0,40 120,20 240,0')
  expect(drawLine([0, 0], 0)).toBe('0,40 240,40')
})

it('abridgePlace shortens the reason why a job waits', () => {
  const job = (message: string) =>
    ({
      stateCategory: 'WAITING',
      position: 2,
      currentRun: { nodeNames: [], gpuIds: [] },
      pool: { name: 'gpu' },
      scheduling: { reasons: [{ message }] },
    }) as unknown as JobRow
  expect(abridgePlace(job('Waiting behind job_01m8fkc50me00aafv40m0gkpc9'))).toBe('#2 behind job …0gkpc9')
  expect(abridgePlace(job('Waiting for free resources: 8 GPUs'))).toBe('#2 for free resources: 8 GPUs')
  expect(abridgePlace(job('The pool is paused'))).toBe('#2 The pool is paused')
})
