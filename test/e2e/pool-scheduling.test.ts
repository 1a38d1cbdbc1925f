import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openServer } from '../support/api.ts'
import { until } from '../support/until.ts'

/** Scheduling settings of a pool in the configuration apply only to runs of that pool. */

const config = `
pools:
  - name: strict
    executors: [simulated]
    nodes: [{ name: s1, cpu: 8, memoryGib: 8 }]
    scheduling: { graceSeconds: 1, maxStartAttempts: 1, nodeLostAfterSeconds: 1 }
  - name: patient
    executors: [simulated]
    nodes: [{ name: p1, cpu: 8, memoryGib: 8 }]
    scheduling: { graceSeconds: 600, maxStartAttempts: 2, nodeLostAfterSeconds: 600 }
queues: [{ name: strict, pool: strict }, { name: patient, pool: patient }]
`

const { api, database, dataDir } = await openServer(config)

const inBoth = (environment: Record<string, number>) =>
  api.submitAll(
    ['strict', 'patient'].map((queue) => ({
      queue,
      command: ['x'],
      environment: Object.entries(environment).map(([name, value]) => ({ name, value: String(value) })),
    })),
  )
const silence = (...nodes: string[]) => writeFile(join(dataDir, 'sim-silent'), nodes.join('\n'))
const rowsOf = (ids: string[]) =>
  database.db.sql.query<{ state: string; reason: string | null; info: string | null; exit: number | null }>(
    `SELECT state, state_reason AS reason, state_info AS info, exit_code AS exit FROM job
     WHERE id = ANY($1::text[]) ORDER BY array_position($1::text[], id)`,
    [ids],
  )
const reach = (ids: string[], states: string[]) =>
  until(async () => (await rowsOf(ids)).every(({ state }, i) => state === states[i]) && rowsOf(ids), {
    what: `they are ${states}`,
  })

test('graceSeconds sets the time from TERM to KILL', async () => {
  const ids = await inBoth({ SIM_RUN_SECONDS: 3_600, SIM_IGNORE_TERM_SECONDS: 3_600 })
  await reach(ids, ['RUNNING', 'RUNNING'])
  for (const jobId of ids)
    await api.ask('mutation ($jobId: ID!) { cancelJob(input: { jobId: $jobId }) { __typename } }', { jobId })
  const [strict] = await reach(ids, ['CANCELLED', 'CANCELLING'])
  expect(strict).toMatchObject({ exit: 137 })
})

test('maxStartAttempts limits the attempts of a start', async () => {
  const ids = await inBoth({ SIM_START_FAILURES: 2 })
  const [strict, patient] = await reach(ids, ['FAILED', 'FAILED'])
  expect(strict).toMatchObject({ reason: 'START_FAILED', info: 'Start 1 of 1 failed: SIM_START_FAILURES' })
  expect(patient).toMatchObject({ reason: 'START_FAILED', info: 'Start 2 of 2 failed: SIM_START_FAILURES' })
  const runs = await database.db.sql.query<{ number: number }>(
    'SELECT count(*)::int AS number FROM run WHERE job_id = ANY($1::text[]) GROUP BY job_id ORDER BY array_position($1::text[], job_id)',
    [ids],
  )
  expect(runs.map(({ number }) => number)).toEqual([1, 2])
})

test('nodeLostAfterSeconds sets after which time an unreachable node is lost', async () => {
  const ids = await inBoth({ SIM_RUN_SECONDS: 3_600 })
  await reach(ids, ['RUNNING', 'RUNNING'])
  await silence('s1', 'p1')
  const [strict] = await reach(ids, ['INTERRUPTED', 'RUNNING'])
  expect(strict).toMatchObject({ reason: 'NODE_LOST', info: 'The node of the run has been unreachable for 1 s' })
  await silence()
})
