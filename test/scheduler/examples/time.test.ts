import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { systemClock } from '../../../src/platform/clock.ts'
import { CPU, chooseModes, N8, N8x2, startCluster } from '../../support/cluster.ts'
import { mutate } from '../../support/people.ts'
import { until } from '../../support/until.ts'

/** Examples of docs/how-jobs-wait.md, by number: time limits, reports, lost nodes, long queues. */
const modes = chooseModes('loop')
const P = {
  policy: 'PRIORITY' as const,
  limits: { maxConcurrent: null, userMaxConcurrent: null, localJobMaxConcurrent: null },
}
const S = { policy: 'FAIR_SHARE' as const }

describe.each(modes)('examples of time limits (scheduling mode: %s)', (mode) => {
  test('example 71: in PSI/J a preempted job that resumed never returns to an earlier state', async () => {
    await using it = await startCluster({ mode, ...S, nodes: [N8()] })
    const victim = await it.submit({ gpu: 8, rst: true, account: 'x', seconds: 500 })
    await it.settle()
    await it.submit({ gpu: 8, pre: true, account: 'y', seconds: 50 })
    await it.settle()
    await it.advance(51)
    await it.advance(501)
    const events = await it.sql<{ psij: string }>(
      'SELECT psij_state AS psij FROM event WHERE job_id = $1 AND psij_state IS NOT NULL ORDER BY seq',
      [victim],
    )
    expect(events.map(({ psij }) => psij)).toEqual(['QUEUED', 'ACTIVE', 'COMPLETED'])
  })

  test('example 72: the maximum run time has a default for each kind of job', async () => {
    await using it = await startCluster({ mode, ...P, nodes: [CPU()] })
    const kinds = [{}, { pre: true }, { rst: true }, { interactive: true }]
    const jobs = await Promise.all(
      kinds.map((kind) => it.submit({ ...kind, notBefore: new Date(Date.UTC(2026, 11, 31)).toISOString() })),
    )
    const maxima = await Promise.all(
      jobs.map(
        async (job) =>
          (await it.sql<{ s: number }>(`SELECT spec->'maxRunTimeSeconds' AS s FROM job WHERE id = $1`, [job]))[0]?.s,
      ),
    )
    expect(maxima).toEqual([172_800, 0, 0, 0])
  })

  test('example 72: the maximum run time counts from RUNNING, and a job that exceeds it has FAILED', async () => {
    await using it = await startCluster({ mode, ...P, nodes: [CPU()], graceMs: 1_000, clock: systemClock })
    const environment = { SIM_START_SECONDS: 5, SIM_RUN_SECONDS: 1_000, SIM_IGNORE_TERM_SECONDS: 1_000 }
    const id = await it.submit({
      rst: true,
      maxRunTimeSeconds: 2,
      environment: Object.entries(environment).map(([name, value]) => ({ name, value: String(value) })),
    })
    await it.settle()
    expect(await it.states(id)).toEqual(['RUNNING'])
    await until(async () => (await it.states(id))[0] === 'FAILED', { what: 'its time is over' })
    await it.settle()
    expect(await it.job(id)).toMatchObject({ state: 'FAILED', stateReason: 'MAX_RUN_TIME', exitCode: 137 })
    const runs = await it.sql<{ startup: number; running: number }>(
      `SELECT extract(epoch FROM started_at - scheduled_at)::float8 AS startup,
         extract(epoch FROM finished_at - started_at)::float8 AS running FROM run WHERE job_id = $1`,
      [id],
    )
    expect(runs).toHaveLength(1)
    // Five seconds of startup; two seconds and the whole grace period, because the job ignores TERM. The backend only
    // estimates the database time, so both may be shorter.
    expect(runs[0]?.startup).toBeGreaterThan(4.5)
    expect(runs[0]?.running).toBeGreaterThan(2.5)
  })

  test('example 80: a node that is unreachable for a short time recovers; after the timeout it is LOST', async () => {
    await using it = await startCluster({ mode, ...P, nodes: N8x2(), nodeLostAfterMs: 60_000 })
    const [pre, rst] = [
      await it.submit({ gpu: 8, cpu: 16, pre: true }),
      await it.submit({ gpu: 8, cpu: 16, rst: true }),
    ]
    await it.settle()
    const nodes = await Promise.all([pre, rst].map(async (id) => (await it.job(id)).runs.nodes[0]?.nodeNames[0]))
    const silence = (names: (string | undefined)[]) => writeFile(join(it.dataDir, 'sim-silent'), names.join('\n'))
    await silence(nodes)
    await it.advance(30)
    await silence([])
    await it.advance(1)
    expect(await it.states(pre, rst)).toEqual(['RUNNING', 'RUNNING'])
    await silence(nodes)
    // Wait until the server has noticed that the node is unreachable.
    await until(
      async () => {
        await it.advance(61)
        return (await it.states(pre, rst)).join() === 'INTERRUPTED,QUEUED'
      },
      { what: 'both are lost' },
    )
    expect(await it.sql("SELECT 1 FROM node WHERE state = 'LOST'")).toHaveLength(2)
    await silence([])
    await until(async () => (await it.states(rst)).join() === 'RUNNING' || (await it.settle()), {
      what: 'it runs again',
    })
    expect((await it.job(rst)).runs.nodes.map(({ number, state }) => [number, state])).toEqual([
      [1, 'INTERRUPTED'],
      [2, 'RUNNING'],
    ])
  })

  test('example 85: 2,000 jobs that cannot fit and 2,000 jobs at a limit block no other job', async () => {
    await using it = await startCluster({
      mode,
      policy: 'PRIORITY',
      nodes: [N8()],
      limits: { ...P.limits, userMaxConcurrent: 1 },
    })
    await it.user('greedy', 'ADMIN')
    await it.user('modest', 'RESEARCHER')
    await it.submit({ as: 'greedy' })
    await it.settle()
    for (const spec of [{ gpu: 16 }, {}]) {
      const submissions = Array.from({ length: 1_000 }, () => ({
        spec: { command: ['x'], resources: spec, environment: [{ name: 'SIM_RUN_SECONDS', value: '9' }] },
      }))
      for (let i = 0; i < 2; i++)
        await mutate(it.person('greedy'), 'submitJobs', { input: { submissions }, wanted: 'results { __typename }' })
    }
    const last = await it.submit({ as: 'modest' })
    await it.settle()
    expect(await it.states(last)).toEqual(['RUNNING'])
    expect(await it.sql("SELECT 1 FROM run WHERE state IN ('STARTING', 'RUNNING')")).toHaveLength(2)
  })
})
