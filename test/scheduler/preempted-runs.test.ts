import { afterEach, beforeEach, expect, test } from 'vitest'
import { cancelJob } from '../../src/domain/control/cancel.ts'
import { confirmPreemption } from '../../src/domain/jobs/confirm-preemption.ts'
import { requestEvictions } from '../../src/domain/jobs/holds.ts'
import type { Executor } from '../../src/executors/executor.ts'
import { createReporter } from '../../src/scheduler/reports.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { openTestDomainForEach } from '../support/domain.ts'
import { openSimulated } from '../support/fake-backend.ts'
import { startScheduler } from '../support/leader.ts'
import { until } from '../support/until.ts'

/** How a leader evicts runs, whether this or an earlier leader decided it. */
const { database, it, sql } = openTestDomainForEach()
let executor: Executor
let schedulers: Scheduler[]

beforeEach(async () => {
  executor = await openSimulated(it.domain)
  schedulers = []
})
afterEach(async () => {
  for (const scheduler of schedulers) await scheduler.stop()
  await executor.close()
})

function start(holder: string): Scheduler {
  const scheduler = startScheduler(it.domain, { simulated: executor }, { holder })
  schedulers.push(scheduler)
  return scheduler
}

const sim = (more: Record<string, unknown>) =>
  it.submit({
    environment: [{ name: 'SIM_RUN_SECONDS', value: '3600' }],
    resources: { cpu: 16, memoryBytes: 1 },
    ...more,
  })

interface Row {
  state: string
  state_reason: string | null
  state_info: string | null
  run_number: number
}
const row = async (id: string): Promise<Row | undefined> =>
  (await sql<Row>('SELECT state, state_reason, state_info, run_number FROM job WHERE id = $1', [id]))[0]
const reaches = (id: string, state: string) =>
  until(async () => (await row(id))?.state === state, { what: `${id} is ${state}` })

/** The run fills the node; `claimant` waits for it. The leader that started it is gone. */
async function victimAndClaimant(kind: Record<string, unknown>, tier = 1, state = 'RUNNING') {
  const first = start('a')
  const victim = await sim(kind)
  await reaches(victim, state)
  const claimant = await sim({})
  await first.stop()
  const [run] = await sql<{ id: string }>('SELECT id FROM run WHERE job_id = $1', [victim])
  const runId = run?.id ?? ''
  const running = { runId, jobId: victim, run: 1, lane: { account: 'x' } }
  const [node] = await sql<{ id: string }>('SELECT id FROM node')
  const takes = { cpuMillis: 16_000, memoryBytes: 1, gpuIds: [], infiniband: false, interactive: false }
  const placement = { nodeId: node?.id ?? '', node: 'n1', replica: 0, ...takes }
  const shares = { claimant: [0, 1], victim: [1, 0] } as const
  await database.db.transaction((open) =>
    requestEvictions(open, {
      pool: 'sim',
      epoch: 1,
      evictions: [
        {
          hold: {
            id: 'hold_1',
            jobId: claimant,
            placements: [placement],
            sinceMs: 0,
            backfilledOn: null,
          },
          claimant: { jobId: claimant, account: 'y' },
          victims: [{ running, tier, shares }],
        },
      ],
    }),
  )
  return { victim, claimant, runId }
}

test('example 49: a new leader completes the eviction, and the claimant keeps the freed resources', async () => {
  const { victim, claimant } = await victimAndClaimant({ preemptable: true })
  start('b')
  await reaches(victim, 'INTERRUPTED')
  expect(await row(victim)).toMatchObject({ state_reason: 'PREEMPTED', run_number: 1 })
  await reaches(claimant, 'RUNNING')
  expect(await sql('SELECT 1 FROM hold')).toEqual([])
})

test('a new leader sends the signal that the previous leader did not send before it died', async () => {
  const { victim, runId } = await victimAndClaimant({ restartable: true })
  expect(await database.db.transaction((open) => confirmPreemption(open, { runId, jobId: victim }))).toBe('SIGNAL')
  start('b')
  await reaches(victim, 'QUEUED')
  expect(await row(victim)).toMatchObject({ state_reason: 'PREEMPTED', run_number: 2 })
  const runs = await sql('SELECT number, state FROM run WHERE job_id = $1 ORDER BY number', [victim])
  expect(runs).toEqual([
    { number: 1, state: 'INTERRUPTED' },
    { number: 2, state: 'QUEUED' },
  ])
})

test('a victim of rotation is queued behind the waiting jobs, and a victim of strict preemption is not', async () => {
  for (const [tier, isBehind] of [
    [1, false],
    [2, true],
  ] as const) {
    const { victim, claimant } = await victimAndClaimant({ restartable: true }, tier)
    const waiting = await sim({})
    start(`b${tier}`)
    await reaches(claimant, 'RUNNING')
    const places = await sql<{ id: string }>(
      'SELECT job_id AS id FROM queue_entry WHERE job_id = ANY($1::text[]) ORDER BY sequence',
      [[victim, waiting]],
    )
    expect(places.map(({ id }) => id)).toEqual(isBehind ? [waiting, victim] : [victim, waiting])
    for (const id of [victim, waiting, claimant]) await cancelJob(it.domain, it.admin, { jobId: id })
    await reaches(claimant, 'CANCELLED')
    for (const scheduler of schedulers) await scheduler.stop()
  }
})

test('an eviction is withdrawn if its claimant is cancelled before the signal', async () => {
  const { victim, claimant, runId } = await victimAndClaimant({ preemptable: true })
  await cancelJob(it.domain, it.admin, { jobId: claimant })
  start('b')
  const asked = () => sql<{ at: Date | null }>('SELECT preempt_requested_at AS at FROM run WHERE id = $1', [runId])
  await until(async () => (await asked())[0]?.at === null, { what: 'it is spared' })
  expect(await row(victim)).toMatchObject({ state: 'RUNNING', state_reason: null })
  expect(await sql('SELECT 1 FROM preemption')).toEqual([])
})

test('a run that begins after its preemption was ordered still shows the reason', async () => {
  const environment = [{ name: 'SIM_START_SECONDS', value: '3600' }]
  const { victim, claimant, runId } = await victimAndClaimant({ preemptable: true, environment }, 1, 'STARTING')
  const [leader] = await sql<{ epoch: number }>("UPDATE scheduler_leader SET holder = 'b' RETURNING epoch")
  const report = createReporter(it.domain, { pool: 'sim', epoch: leader?.epoch ?? 0, holder: 'b' }, 3)
  const seen = { kind: 'seen', observation: { state: 'running' } } as const
  expect(await report({ runId, jobId: victim, number: 1, report: seen })).toBe('RUNNING')
  const why = { state_reason: 'PREEMPTING', state_info: `Being preempted by ${claimant}` }
  expect(await row(victim)).toMatchObject({ state: 'RUNNING', ...why })
})

test.each([
  ['before its own maximum run time', 600, 599, 'The capacity reservation of the job has ended'],
  ['without a maximum run time', 0, 599, 'The capacity reservation of the job has ended'],
  ['whose own maximum run time is over earlier', 600, 601, 'The run reached its maximum run time of 600 s'],
])('a hard capacity reservation ends a job %s', async (_what, maxRunTimeSeconds, endsAfterSeconds, info) => {
  await sql(
    `INSERT INTO capacity_reservation (id, name, pool, project, nodes, starts_at, ends_at, hard)
     VALUES ('reservation_1', 'r', 'sim', 'genome', '{n1}', berth_now() - interval '2 h', berth_now() + interval '1 d', true)`,
  )
  const id = await sim({ project: 'genome', capacityReservationId: 'reservation_1', maxRunTimeSeconds })
  const first = start('a')
  await reaches(id, 'RUNNING')
  await first.stop()
  await sql("UPDATE run SET started_at = started_at - interval '1 hour'")
  await sql("UPDATE capacity_reservation SET ends_at = run.started_at + $1 * interval '1 second' FROM run", [
    endsAfterSeconds,
  ])
  start('b')
  await reaches(id, 'FAILED')
  expect(await row(id)).toMatchObject({ state_reason: 'MAX_RUN_TIME', state_info: info })
})
