import { afterEach, beforeEach, expect, test } from 'vitest'
import { cancelJob } from '../../src/domain/control/cancel.ts'
import { setJobPriority } from '../../src/domain/control/priority.ts'
import { Rejected } from '../../src/domain/errors.ts'
import { applyPools } from '../../src/domain/machines/pools.ts'
import { explainWaiting } from '../../src/domain/queue/why-waiting.ts'
import { submitAll as submitNow } from '../../src/domain/submission/submit.ts'
import { type BackendNode, StartFailed } from '../../src/executors/executor.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createLog } from '../../src/platform/log.ts'
import { createReachability, storeCapacity } from '../../src/scheduler/capacity-watch.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { openTestDomainForEach } from '../support/domain.ts'
import { backendNode, type FakeBackend, openFakeBackend } from '../support/fake-backend.ts'
import { startScheduler } from '../support/leader.ts'
import { recordLines } from '../support/recorded-lines.ts'
import { until } from '../support/until.ts'

const { database, it, sql } = openTestDomainForEach({ nodes: [] })
let backend: FakeBackend
let scheduler: Scheduler
const { lines, destination } = recordLines()

beforeEach(async () => {
  backend = await openFakeBackend(it.domain, ['n1', 'n2'])
  lines.length = 0
  lead()
  await until(async () => (await nodes()).length === 2, { what: 'the nodes are known' })
})
afterEach(async () => {
  await scheduler.stop()
  await backend.close()
})

function lead() {
  const domain = { ...it.domain, log: createLog('info', { destination }) }
  scheduler = startScheduler(domain, { simulated: backend })
}

const nodes = () =>
  sql<{ name: string }>(
    'SELECT name, state::text, free_cpu_millis AS free, held_cpu_millis AS held FROM node ORDER BY name',
  )
const epoch = async () => (await sql<{ epoch: number }>('SELECT epoch FROM scheduler_leader'))[0]?.epoch ?? 0

async function report(reported: BackendNode[]) {
  backend.nodes = reported
  await storeCapacity(it.domain, { pool: 'sim', epoch: await epoch(), holder: 'test' }, reported)
}

const submit = (cpu: number, more: Record<string, unknown> = {}) =>
  it.submit({
    environment: [{ name: 'SIM_RUN_SECONDS', value: '1e6' }],
    ...more,
    resources: { cpu, memoryBytes: 1, ...(more['resources'] as object) },
  })

interface RunRow {
  state: string
  reason: string | null
  info: string | null
  nodes: string[]
  gpuIds: number[]
  nativeId: string | null
  ip: string | null
  counted: string[]
}

async function runOf(jobId: string): Promise<RunRow> {
  const [row] = await sql<RunRow>(
    `SELECT r.state::text, j.state_reason AS reason, j.state_info AS info, r.nodes, r.gpu_ids AS "gpuIds", r.native_id AS "nativeId", r.ip,
       ARRAY(SELECT n.name || CASE WHEN a.provisional THEN '?' ELSE '' END FROM allocation a JOIN node n ON n.id = a.node_id
         WHERE a.run_id = r.id ORDER BY a.replica) AS counted
     FROM job j JOIN run r ON r.job_id = j.id AND r.number = j.run_number WHERE j.id = $1`,
    [jobId],
  )
  if (!row) throw new Error(`There is no ${jobId}`)
  return row
}

const becomes = (jobId: string, expected: Partial<RunRow>) =>
  until(
    async () => {
      const row = await runOf(jobId)
      return Object.entries(expected).every(
        ([key, value]) => JSON.stringify(row[key as keyof RunRow]) === JSON.stringify(value),
      )
    },
    { what: `${jobId} is ${JSON.stringify(expected)}` },
  )

const isGiven = (...jobIds: string[]) =>
  until(() => jobIds.every((id) => [...backend.given.values()].some(({ run }) => run.jobId === id)), {
    what: 'the backend has them',
  })
const wait = async (jobId: string) => (await explainWaiting(it.domain, [jobId])).get(jobId)?.reasons[0]?.code

test('a STARTING job shows why the backend has not started it yet', async () => {
  const start = backend.start.bind(backend)
  const answers = Promise.withResolvers<void>()
  backend.start = async (run, unwanted, tell) => {
    tell?.('The backend does not answer')
    await answers.promise
    return start(run, unwanted)
  }
  const id = await submit(3)
  await becomes(id, { state: 'STARTING', info: 'The backend does not answer' })
  answers.resolve()
  await becomes(id, { state: 'STARTING', info: 'Resources' })
})

test('a new leader clears an outdated waiting reason', async () => {
  const id = await submit(3)
  await becomes(id, { state: 'STARTING', info: 'Resources' })
  await scheduler.stop()
  backend.why = null
  lead()
  await becomes(id, { state: 'STARTING', info: null })
})

test('a run is submitted without nodes, shows why it waits, and is counted on the node that the backend chooses', async () => {
  const first = await submit(3)
  const second = await submit(3)
  await isGiven(first, second)
  expect(await runOf(first)).toMatchObject({ state: 'STARTING', nodes: [], counted: ['n1?'] })
  await becomes(first, { info: 'Resources' })
  const given = [...backend.given.values()].find(({ run }) => run.jobId === first)
  expect(given?.run).toMatchObject({ nodes: [], gpuIds: [] })

  await backend.place()
  await becomes(first, { state: 'RUNNING', counted: ['n2'] })
  expect(await runOf(first)).toMatchObject({ nodes: ['n2'], gpuIds: [5], ip: '10.0.0.7', info: null })
  await becomes(second, { state: 'RUNNING', counted: ['n1'], nodes: ['n1'] })
  const events = await sql<{ metadata: unknown }>(
    "SELECT metadata FROM event WHERE job_id = $1 AND to_state = 'RUNNING'",
    [first],
  )
  expect(events).toEqual([{ metadata: { nativeId: expect.stringMatching(/^native run_/) } }])
})

test('a run that waits in the backend keeps its resources allocated, and no more runs are submitted than the nodes hold', async () => {
  await report([backendNode('n1', { state: 'CORDONED' }), backendNode('n2')])
  const held = await Promise.all([submit(2), submit(2)])
  await isGiven(...held)
  const later = await submit(1)
  await until(async () => (await wait(later)) === 'NO_CAPACITY', { what: 'it waits in Berth' })
  for (const id of held) expect(await runOf(id)).toMatchObject({ state: 'STARTING', counted: ['n2?'] })
  const [first = ''] = held
  await cancelJob(it.domain, it.admin, { jobId: first })
  await becomes(first, { state: 'CANCELLED' })
  await isGiven(later)
})

test('nodes follow the reports of the backend (cordoned, lost, shrunk, used by others, removed), and runs continue', async () => {
  const running = await submit(3)
  await isGiven(running)
  await backend.place()
  await becomes(running, { state: 'RUNNING', counted: ['n2'] })
  const held = { cpuMillis: 3_000, memoryBytes: 0, gpus: 0 }
  await report([backendNode('n1', { heldByOthers: held }), backendNode('n2', { cpuMillis: 2_000 }), backendNode('n3')])
  expect(await nodes()).toEqual([
    { name: 'n1', state: 'READY', free: 1_000, held: 3_000 },
    { name: 'n2', state: 'READY', free: -1_000, held: 0 },
    { name: 'n3', state: 'READY', free: 4_000, held: 0 },
  ])
  const next = await submit(2)
  await isGiven(next)
  expect(await runOf(next)).toMatchObject({ counted: ['n3?'] })
  expect(await wait(await submit(5))).toBe('UNSATISFIABLE')
  await report([backendNode('n1', { state: 'LOST' }), backendNode('n3', { state: 'CORDONED' })])
  expect(await nodes()).toEqual([
    { name: 'n1', state: 'LOST', free: 4_000, held: 0 },
    { name: 'n2', state: 'LOST', free: -1_000, held: 0 },
    { name: 'n3', state: 'CORDONED', free: 2_000, held: 0 },
  ])
  await report([])
  expect((await nodes()).map(({ name }) => name)).toEqual(['n2', 'n3'])
  expect(await runOf(running)).toMatchObject({ state: 'RUNNING' })
  await report([backendNode('n2'), backendNode('n3')])
  await isGiven(await submit(2))
})

const h100 = { model: 'H100', memoryBytes: 80 * 1024 ** 3, tensorCores: true, cudaVersion: '12.2' }

test('an unchanged report writes no rows; an unreachable backend writes no rows and is logged once', async () => {
  const gpus = Array.from({ length: 2 }, () => ({ ...h100 }))
  const nodesNow = [backendNode('n1', { gpus, heldByOthers: { cpuMillis: 1, memoryBytes: 1, gpus: 1 } })]
  await report(nodesNow)
  const written = () => sql('SELECT name, xmin::text FROM node ORDER BY name')
  const before = await written()
  await report(structuredClone(nodesNow))
  expect(await written()).toEqual(before)
  const reach = createReachability(
    {
      ...it.domain,
      log: createLog('info', { destination }),
      clock: { ...systemClock, sleep: () => new Promise<void>((resolve) => setImmediate(resolve)) },
    },
    new Map([['simulated', backend]]),
  )
  const watch = reach.watch({ pool: 'sim', epoch: await epoch(), holder: 'test' }, () => undefined)
  backend.answers = false
  let asked = 0
  const capacity = backend.capacity.bind(backend)
  backend.capacity = async () => {
    asked++
    return capacity()
  }
  lines.length = 0
  watch?.start()
  await until(() => asked > 3, { what: 'it was asked again' })
  backend.answers = true
  await until(() => lines.some(({ msg }) => msg === 'the backend is reachable again'), { what: 'it answers' })
  await watch?.stop()
  expect(lines.filter(({ msg }) => /the backend is unreachable/.test(String(msg)))).toHaveLength(1)
  expect(await written()).toEqual(before)
})

test('GPUs are counted without device numbers, together with GPUs that others use', async () => {
  const gpus = Array.from({ length: 4 }, () => ({ ...h100 }))
  const gpuNode = (held: number) => [
    backendNode('n1', { gpus, heldByOthers: { cpuMillis: 0, memoryBytes: 0, gpus: held } }),
  ]
  await report(gpuNode(1))
  const ask = (gpu: number) => submit(0.1, { resources: { gpu, gpuModel: ['h100'] } })
  const first = await ask(2)
  await isGiven(first)
  const second = await ask(2)
  await until(async () => (await wait(second)) === 'NO_CAPACITY', { what: 'one GPU is not enough' })
  await report(gpuNode(0))
  await isGiven(second)
  expect(await sql('SELECT 1 FROM device_claim')).toEqual([])
  await report(gpuNode(4))
  expect(await sql('SELECT held_gpus FROM node')).toEqual([{ held_gpus: [0, 1, 2, 3] }])
})

test('a node that the backend reserves for GPU jobs takes no other jobs', async () => {
  const gpus = [h100]
  await report([backendNode('n1', { gpus, gpuJobsOnly: true })])
  const plain = await submit(1)
  await until(async () => (await wait(plain)) === 'UNSATISFIABLE', { what: 'it fits on no node' })
  await isGiven(await submit(1, { resources: { gpu: 1 } }))
  await report([backendNode('n1', { gpus })])
  await isGiven(plain)
})

test('a run preempted by the backend ends INTERRUPTED, or is queued again if it is restartable', async () => {
  const plain = await submit(1)
  const again = await submit(1, { restartable: true })
  await isGiven(plain, again)
  await backend.place()
  await becomes(plain, { state: 'RUNNING' })
  await becomes(again, { state: 'RUNNING' })
  for (const { run } of backend.given.values()) await backend.preempt(run.runId)
  await becomes(plain, { state: 'INTERRUPTED', reason: 'PREEMPTED' })
  await until(async () => (await sql('SELECT 1 FROM job WHERE id = $1 AND run_number = 2', [again])).length === 1, {
    what: 'it runs again',
  })
})

test('while a backend is unavailable no job fails, and the whole pool backs off and probes with one run', async () => {
  const tries: number[] = []
  const start = backend.start.bind(backend)
  backend.start = async (run) => {
    tries.push(run.number)
    if (!backend.answers) throw new StartFailed('NODE_TROUBLE', 'it is away')
    return start(run)
  }
  backend.answers = false
  const jobs = await Promise.all(Array.from({ length: 6 }, () => submit(1)))
  await until(async () => (await sql('SELECT 1 FROM node WHERE backs_off_until IS NULL')).length === 0, {
    what: 'all nodes back off',
  })
  await until(async () => (await sql("SELECT 1 FROM job WHERE state <> 'QUEUED'")).length === 0, { what: 'all wait' })
  const before = tries.length
  await database.moveTime(2_000)
  it.domain.wakeups.poke('queue')
  await until(() => tries.length > before, { what: 'one is tried' })
  await until(async () => (await sql("SELECT 1 FROM job WHERE state <> 'QUEUED'")).length === 0, { what: 'all wait' })
  expect(tries.length).toBe(before + 1)
  backend.answers = true
  await database.moveTime(5_000)
  it.domain.wakeups.poke('queue')
  await isGiven(...jobs)
})

/** Opens the pool of the tests with these settings. */
const schedule = (scheduling: Record<string, unknown>) =>
  applyPools(it.domain, {
    pools: [{ name: 'sim', policy: 'PRIORITY', executors: ['simulated'], relaxReplicas: true, nodes: [], scheduling }],
    queues: [{ name: 'default', pool: 'sim', native: {} }],
  })

test('with noWait, jobs are accepted if their amounts fit, and are refused otherwise', async () => {
  const now = (cpu: number) =>
    submitNow(it.domain, it.admin, [
      { noWait: true, spec: { command: ['true'], resources: { cpu, memoryBytes: 1 } } },
    ]).then(([outcome]) => outcome)
  expect(await now(3)).toMatchObject({ jobId: expect.any(String) })
  expect(await now(4)).toMatchObject({ jobId: expect.any(String) })
  expect(await now(2)).toBeInstanceOf(Rejected)
  await until(() => backend.given.size === 2, { what: 'the backend has both' })
})

test('an exclusive job is counted on a whole node: first the expected one, then the one that the backend chose', async () => {
  const alone = await submit(1, { resources: { exclusiveNodeUse: true } })
  const beside = await submit(3)
  await isGiven(alone, beside)
  expect((await runOf(alone)).counted).toEqual(['n1?'])
  const third = await submit(2)
  await until(async () => (await wait(third)) === 'NO_CAPACITY', { what: 'no node is free' })
  await backend.place()
  await becomes(alone, { state: 'RUNNING', counted: ['n2'], nodes: ['n2'] })
  await becomes(beside, { state: 'RUNNING', counted: ['n1'] })
  expect(await nodes()).toMatchObject([{ free: 1_000 }, { free: 0 }])
  expect(await wait(third)).toBe('NO_CAPACITY')
})

test('a gang is submitted once, when there is a node for each of its copies', async () => {
  const first = await submit(3)
  await isGiven(first)
  const gang = await submit(3, { resources: { nodeCount: 2 } })
  await until(async () => (await wait(gang)) === 'NO_CAPACITY', { what: 'one node is not enough' })
  await cancelJob(it.domain, it.admin, { jobId: first })
  await isGiven(gang)
  expect((await runOf(gang)).counted).toEqual(['n1?', 'n2?'])
  await backend.place()
  await becomes(gang, { state: 'RUNNING', counted: ['n2', 'n1'], nodes: ['n2', 'n1'] })
})

test('a job of higher priority preempts both running runs and runs that wait in the backend', async () => {
  await schedule({ preemptLowerPriority: true })
  const running = await submit(4, { preemptable: true })
  await isGiven(running)
  await backend.place()
  await becomes(running, { state: 'RUNNING', counted: ['n2'] })
  const waiting = await submit(4, { preemptable: true, restartable: true })
  await isGiven(waiting)
  const urgent = await Promise.all(Array.from({ length: 2 }, () => submit(4)))
  for (const jobId of urgent) await setJobPriority(it.domain, it.admin, { jobId, priority: 50 })
  await becomes(running, { state: 'INTERRUPTED', reason: 'PREEMPTED' })
  await until(async () => (await sql('SELECT 1 FROM job WHERE id = $1 AND run_number = 2', [waiting])).length === 1, {
    what: 'it is queued again',
  })
  await isGiven(...urgent)
  await backend.place()
  for (const id of urgent) await becomes(id, { state: 'RUNNING' })
  expect(await sql("SELECT 1 FROM hold WHERE kind = 'PREEMPTION'")).toEqual([])
})

test('the planned start of a large job moves when the backend places a small job on its node', async () => {
  const long = await Promise.all([submit(3), submit(3)])
  await isGiven(...long)
  await backend.place()
  for (const id of long) await becomes(id, { state: 'RUNNING' })
  const large = await submit(4)
  const held = () =>
    sql<{ node: string }>(
      "SELECT p->>'node' AS node FROM hold, jsonb_array_elements(placements) p WHERE job_id = $1 AND kind = 'PLANNED'",
      [large],
    )
  await until(async () => (await held()).length === 1, { what: 'a node is held' })
  const [{ node = '' } = {}] = await held()
  const small = await submit(1)
  await isGiven(small)
  const [other] = ['n1', 'n2'].filter((name) => name !== node)
  expect((await runOf(small)).counted).toEqual([`${other}?`])
  backend.nodes = backend.nodes.toSorted((a) => (a.name === node ? 1 : -1))
  await backend.place()
  await becomes(small, { state: 'RUNNING', counted: [node] })
  await until(async () => (await held())[0]?.node === other, { what: 'the other node is kept' })
  for (const id of [...long, small]) await cancelJob(it.domain, it.admin, { jobId: id })
  await isGiven(large)
  await backend.place()
  await becomes(large, { state: 'RUNNING' })
})

test('the next leader moves an allocation that the previous leader had not moved', async () => {
  const id = await submit(3)
  await isGiven(id)
  await scheduler.stop()
  await backend.place()
  lead()
  await becomes(id, { state: 'RUNNING', counted: ['n2'], nodes: ['n2'] })
  await scheduler.stop()
  const away = `UPDATE allocation SET provisional = true WHERE run_id IN (SELECT id FROM run WHERE job_id = $1)`
  await sql(away, [id])
  lead()
  await becomes(id, { counted: ['n2'] })
})
