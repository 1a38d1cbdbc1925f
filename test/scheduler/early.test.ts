import { afterAll, expect, test } from 'vitest'
import { cancelJob } from '../../src/domain/control/cancel.ts'
import { explainWaiting } from '../../src/domain/queue/why-waiting.ts'
import { findViolations } from '../../src/domain/selfcheck/selfcheck.ts'
import { openTestDomain } from '../support/domain.ts'
import { openFakeBackend } from '../support/fake-backend.ts'
import { startScheduler } from '../support/leader.ts'
import { until } from '../support/until.ts'

const { database, it } = await openTestDomain({ nodes: [], pool: { executors: ['slurm'] } })
const backend = await openFakeBackend(it.domain, ['n1', 'n2'])
const scheduler = startScheduler(it.domain, { slurm: backend })
afterAll(async () => {
  await scheduler.stop()
  await backend.close()
})

const sql = <Row>(text: string) => database.db.sql.query<Row>(text)
const given = () => [...backend.given.values()].map(({ run }) => run.jobId)
const submit = (maxRunTimeSeconds: number) =>
  it.submit({
    environment: [{ name: 'SIM_RUN_SECONDS', value: '1e6' }],
    maxRunTimeSeconds,
    resources: { cpu: 4, memoryBytes: 1 },
  })
const free = async () =>
  (await sql<{ free: number }>('SELECT free_cpu_millis AS free FROM node ORDER BY name')).map((node) => node.free)

test('short jobs are submitted to the backend before a node is free, and the usage of nodes includes them', async () => {
  await until(async () => (await free()).length === 2, { what: 'the nodes are known' })
  const short: string[] = []
  for (let n = 0; n < 6; n++) short.push(await submit(60))
  const urgent = await submit(3_600)
  await until(() => given().length === 4, { what: 'the backend has twice what fits' })
  expect(given()).toEqual(short.slice(0, 4))
  expect(await free()).toEqual([-4_000, -4_000])
  expect(await findViolations(database.db.sql)).toEqual([])
  const [reason] = (await explainWaiting(it.domain, [urgent])).get(urgent)?.reasons ?? []
  expect(reason).toMatchObject({ code: 'NO_CAPACITY' })

  await backend.place()
  const running = await sql("SELECT FROM run WHERE state = 'RUNNING'")
  expect(running.length).toBeLessThanOrEqual(2)
  await cancelJob(it.domain, it.admin, { jobId: short[0] ?? '' })
  await until(() => given().includes(short[4] ?? ''), { what: 'the next one follows' })
  expect(given()).not.toContain(short[5])
  expect(await findViolations(database.db.sql)).toEqual([])
})
