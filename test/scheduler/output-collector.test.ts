import { expect, test } from 'vitest'
import { transition } from '../../src/domain/jobs/transition.ts'
import type { Executor } from '../../src/executors/executor.ts'
import { createOutputCollector, createUserLimiter } from '../../src/scheduler/output-collector.ts'
import { createFakeClock } from '../support/clock.ts'
import { openTestDomain } from '../support/domain.ts'
import { until } from '../support/until.ts'

const { it: world } = await openTestDomain()
const { domain } = world
const limits = { bytesMax: 2 ** 20, filesMax: 10, userBytesMax: 2 ** 20 }

async function endedRun(): Promise<{ jobId: string; runId: string }> {
  const jobId = await world.submit({ outputs: ['*'] })
  const states = ['QUEUED', 'STARTING', 'RUNNING', 'SUCCEEDED'] as const
  let runId = ''
  for (const [at, to] of states.slice(1).entries()) {
    const move = { jobId, run: 1, reason: null, from: states[at] ?? to, to }
    const [moved] = await transition(domain.db.sql, [move], domain.time.nowMs())
    runId = moved?.runId ?? runId
  }
  return { jobId, runId }
}

/** An executor whose reads of files wait until the test permits them. */
function createSlowExecutor() {
  let begun = 0
  const answer = Promise.withResolvers<void>()
  const executor = {
    name: 'slow',
    async *outputs(_handle, _pick, signal) {
      begun += 1
      const aborted = new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      await Promise.race([answer.promise, aborted])
    },
  } satisfies Partial<Executor> as unknown as Executor
  return { executor, begun: () => begun, answer: answer.resolve }
}

const told = async (jobId: string) =>
  (
    await domain.db.sql.query<{ message: string }>(
      `SELECT message FROM event WHERE job_id = $1 AND type = 'ARTIFACT_PUBLISHED'`,
      [jobId],
    )
  ).map(({ message }) => message)

test('a collection of output files is repeated for another caller if its caller was aborted', async () => {
  const { jobId, runId } = await endedRun()
  const { executor, begun, answer } = createSlowExecutor()
  const outputs = createOutputCollector(domain, limits)
  const [first, second] = [new AbortController(), new AbortController()]
  const run = { runId, executor, handle: '' }
  const both = [outputs.collect(run, first.signal), outputs.collect(run, second.signal)]
  await until(() => begun() === 1, { what: 'the files are read' })
  first.abort()
  await until(() => begun() === 2, { what: 'the files are read again' })
  answer()
  expect(await Promise.all(both)).toEqual([false, true])
  expect(await told(jobId)).toEqual(['No output files'])
})

test('the collection of files that do not end is given up after 30 minutes', async () => {
  const { jobId, runId } = await endedRun()
  const { executor, begun } = createSlowExecutor()
  const clock = createFakeClock()
  const outputs = createOutputCollector({ ...domain, clock }, limits)
  const collected = outputs.collect({ runId, executor, handle: '' }, new AbortController().signal)
  await until(() => begun() === 1, { what: 'the files are read' })
  await clock.advance(1_800_000)
  const advance = async () => {
    await clock.advance(1_000)
    return (await told(jobId)).length > 0
  }
  await until(advance, { what: 'the files are given up' })
  expect(await collected).toBe(true)
  expect(await told(jobId)).toEqual([
    'No output files; left out: all, because they could not be read within 30 minutes',
  ])
})

test('the collections of one user leave a slot for another user', async () => {
  const limit = createUserLimiter(3)
  const begun: string[] = []
  const ends: (() => void)[] = []
  const take = (userId: string) =>
    limit(userId, () => {
      begun.push(userId)
      return new Promise<void>((end) => ends.push(end))
    })
  const all = ['a', 'a', 'a', 'b', 'c'].map(take)
  await until(() => begun.length === 3, { what: 'three begin' })
  expect(begun).toEqual(['a', 'a', 'b'])
  ends[0]?.()
  await until(() => begun.length === 4, { what: 'the next begins' })
  expect(begun[3]).toBe('c')
  for (let at = 1; at < all.length; at++) {
    await until(() => ends.length > at, { what: 'the next begins' })
    ends[at]?.()
  }
  await Promise.all(all)
  expect(begun).toHaveLength(5)
})
