import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Leader } from '../../src/domain/leadership.ts'
import { createLog } from '../../src/platform/log.ts'
import { storeCapacity } from '../../src/scheduler/capacity-watch.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { openTestDomainForEach } from '../support/domain.ts'
import { bindVerbs } from '../support/executor-verbs.ts'
import { backendNode, type FakeBackend, openFakeBackend } from '../support/fake-backend.ts'
import { startScheduler } from '../support/leader.ts'
import { recordLines } from '../support/recorded-lines.ts'
import { until } from '../support/until.ts'

/** Runs of a backend that chooses the nodes, when a node or the backend becomes unreachable. */

const { database, it } = openTestDomainForEach({ nodes: [] })
let backend: FakeBackend
let scheduler: Scheduler
const { lines, destination } = recordLines()

beforeEach(async () => {
  backend = await openFakeBackend(it.domain, ['n1'])
  lines.length = 0
  const domain = { ...it.domain, log: createLog('info', { destination }) }
  scheduler = startScheduler(domain, { simulated: backend }, { nodeLostAfterMs: 100 })
  await until(async () => (await nodeState()) === 'READY', { what: 'the node is known' })
})
afterEach(async () => {
  await scheduler.stop()
  await backend.close()
})

const one = async <Row>(text: string, values: unknown[] = []) => (await database.db.sql.query<Row>(text, values))[0]
const nodeState = async () => (await one<{ state: string }>('SELECT state::text FROM node'))?.state
const report = async () => {
  const leader = await one<Leader>('SELECT pool, epoch, holder FROM scheduler_leader')
  if (leader) await storeCapacity(it.domain, leader, backend.nodes)
}
const jobIs = (jobId: string, state: string) =>
  until(
    async () => (await one('SELECT 1 FROM job WHERE id = $1 AND state = $2::job_state', [jobId, state])) !== undefined,
    {
      what: `${jobId} is ${state}`,
    },
  )
const runs = () => [...backend.given.values()]

async function startOne(restartable = true): Promise<string> {
  const jobId = await it.submit({
    environment: [{ name: 'SIM_RUN_SECONDS', value: '1e6' }],
    restartable,
    resources: { cpu: 3, memoryBytes: 1 },
  })
  const told = "SELECT 1 FROM job WHERE id = $1 AND state_info = 'Resources'"
  await until(async () => (await one(told, [jobId])) !== undefined, { what: 'it waits in the backend' })
  return jobId
}

test('a run lost with its node is stopped at once, and the node takes no runs until the old run has ended', async () => {
  const jobId = await startOne()
  await backend.place()
  await jobIs(jobId, 'RUNNING')
  const { inspect } = bindVerbs(backend)
  backend.inspect = async (handles) => handles.map(() => ({ state: 'unreachable' }))
  await jobIs(jobId, 'QUEUED')
  await until(() => runs()[0]?.isStopped, { what: 'the order to stop is given' })
  await report()
  expect(await nodeState()).toBe('LOST')
  expect(runs()).toHaveLength(1)
  backend.inspect = inspect
  await until(() => runs().length === 0, { what: 'the old run is found' })
  await report()
  expect(await nodeState()).toBe('READY')
  await until(() => runs()[0]?.run.number === 2, { what: 'the backend has the next run' })
})

test('a lost run whose command never began is queued again, even if its job is not restartable', async () => {
  const jobId = await startOne(false)
  const { inspect } = bindVerbs(backend)
  backend.inspect = async (handles) => handles.map(() => ({ state: 'unreachable', neverBegan: true }))
  // The job starts again, because the node is not LOST.
  const interrupted = "SELECT 1 FROM run WHERE job_id = $1 AND number = 1 AND state = 'INTERRUPTED'"
  await until(async () => (await one(interrupted, [jobId])) !== undefined, { what: 'the first run is lost' })
  await until(() => runs()[0]?.isStopped, { what: 'the order to stop is given' })
  backend.inspect = inspect
  await until(() => runs().some(({ run }) => run.number > 1), { what: 'the backend has the next run' })
})

test('a failed stop of a lost run is retried, with at most one call to a failing backend per pass', async () => {
  backend.nodes = [backendNode('n1', { cpuMillis: 12_000 })]
  await report()
  const jobIds = [await startOne(), await startOne()]
  await backend.place()
  for (const jobId of jobIds) await jobIs(jobId, 'RUNNING')
  const { inspect, stop } = bindVerbs(backend)
  let [passes, stops, answers] = [0, 0, false]
  backend.inspect = async (handles) => {
    passes++
    return handles.map(() => ({ state: 'unreachable' }))
  }
  const asked = new Set<string>()
  backend.stop = async (handle, graceMs) => {
    stops++
    asked.add(handle)
    if (!answers) throw new Error('The node is unreachable')
    await stop(handle, graceMs)
  }
  for (const jobId of jobIds) await jobIs(jobId, 'QUEUED')
  await until(() => asked.size === 2 && stops > 2, { what: 'each is stopped again' })
  expect(stops).toBeLessThanOrEqual(passes)
  answers = true
  await until(() => runs().filter(({ isStopped }) => isStopped).length === 2, { what: 'both are stopped' })
  backend.inspect = inspect
  await until(() => runs().length === 0, { what: 'both are found' })
})

test('runs are still watched after one error of their backend', async () => {
  const jobId = await startOne()
  const { inspect } = bindVerbs(backend)
  let failures = 0
  backend.inspect = async (handles) => {
    if (failures++ === 0) throw new Error('The node is unreachable')
    return inspect(handles)
  }
  await backend.place()
  await jobIs(jobId, 'RUNNING')
  expect(failures).toBeGreaterThan(1)
  expect(lines.filter(({ msg }) => String(msg).startsWith('notifications of the backend ended'))).toEqual([])
})

test('a run that is gone keeps the first cause that the backend reported', async () => {
  const jobId = await startOne()
  await backend.place()
  await jobIs(jobId, 'RUNNING')
  const [run] = runs()
  const { inspect } = bindVerbs(backend)
  const gone = [{ state: 'gone', cause: 'PREEMPTED' }, { state: 'gone' }] as const
  let asked = 0
  backend.inspect = async (handles) =>
    handles[0] === `fake ${run?.run.runId}` ? [gone[Math.min(asked++, 1)] ?? gone[1]] : inspect(handles)
  await until(() => asked > 1, { what: 'it is gone twice' })
  await backend.preempt(run?.run.runId ?? '')
  // The job starts again, but its event stays.
  const requeued = "SELECT reason FROM event WHERE job_id = $1 AND from_state = 'RUNNING' AND to_state = 'QUEUED'"
  const event = await until(() => one(requeued, [jobId]), { what: 'the job is queued again' })
  expect(event).toEqual({ reason: 'PREEMPTED' })
})
