import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { Domain } from '../../src/domain/domain.ts'
import { type Executor, StartFailed } from '../../src/executors/executor.ts'
import { Outage } from '../../src/platform/troubles.ts'
import type { Sql } from '../../src/platform/tx.ts'
import { Runner } from '../../src/scheduler/runner.ts'
import { createTestDomain } from '../support/domain.ts'
import { bindVerbs } from '../support/executor-verbs.ts'
import { openSimulated } from '../support/fake-backend.ts'
import { carrierOptions, createLeader } from '../support/leader.ts'
import { until } from '../support/until.ts'

test.each(['runs_due', 'holding_runs'])(
  'a run that ends during a slow query (%s) is not started again',
  async (name) => {
    await using opened = new AsyncDisposableStack()
    const { database, it } = opened.use(await createTestDomain())
    const simulated = await openSimulated(it.domain)
    opened.defer(() => simulated.close())
    const jobId = await it.submit({ command: ['true'], environment: [{ name: 'SIM_RUN_SECONDS', value: '0' }] })
    const stateOf = async () =>
      (await database.db.sql.query<{ state: string }>('SELECT state FROM job WHERE id = $1', [jobId]))[0]?.state

    const looked = Promise.withResolvers<void>()
    const returned = Promise.withResolvers<void>()
    let forgotten = 0
    const sql: Sql = {
      async query(...asked) {
        const rows = await database.db.sql.query(...asked)
        if (asked[2] !== name || rows.length === 0) return rows as never
        looked.resolve()
        await until(async () => (await stateOf()) === 'SUCCEEDED' && forgotten > 0, { what: 'the run is over' })
        setImmediate(returned.resolve)
        return rows as never
      },
    }
    let starts = 0
    const executor: Executor = {
      ...bindVerbs(simulated),
      async start(...order) {
        starts += 1
        await looked.promise
        return simulated.start(...order)
      },
      async forget(handle) {
        await simulated.forget?.(handle)
        forgotten += 1
      },
    }
    const domain: Domain = { ...it.domain, db: { ...database.db, sql } }
    const leader = await createLeader(it.domain, 'sim')
    await leader.tick()
    const runner = new Runner(carrierOptions(domain, leader), new Map([['simulated', executor]]))
    runner.start()
    await returned.promise
    await runner.stop()
    expect(starts).toBe(1)
  },
)

test('a start that an earlier leader ordered is marked as inherited', async () => {
  await using opened = new AsyncDisposableStack()
  const { it } = opened.use(await createTestDomain())
  const { domain } = it
  const told = new Map<string, boolean>()
  const executor = {
    name: 'simulated',
    async start({ jobId, inherited }) {
      if (!told.has(jobId)) told.set(jobId, inherited)
      throw new StartFailed('START_FAILED', 'The run is not started here')
    },
    find: async () => null,
    inspect: async () => [],
    list: async () => [],
  } satisfies Partial<Executor>
  const leader = await createLeader(domain, 'sim')
  const startNext = async () => {
    const id = await it.submit({ command: ['true'] })
    await leader.tick()
    return id
  }
  const before = await startNext()
  const runner = new Runner(carrierOptions(domain, leader), new Map([['simulated', executor as unknown as Executor]]))
  runner.start()
  opened.defer(() => runner.stop())
  await until(() => told.has(before), { what: 'the first is started' })
  // The clocks of the database and of the process may differ by less than this.
  await setTimeout(1_100)
  const after = await startNext()
  await until(() => told.has(after), { what: 'the second is started' })
  expect(told).toEqual(
    new Map([
      [before, true],
      [after, false],
    ]),
  )
})

test('while an executor is unavailable, runs of other executors are inspected without delay', async () => {
  await using opened = new AsyncDisposableStack()
  const { database, it } = opened.use(await createTestDomain({ pool: { executors: ['local', 'simulated'] } }))
  const { domain } = it
  const inspected = { local: 0, simulated: 0 }
  let isAway = false
  const fake = (name: 'local' | 'simulated', isUnavailable: () => boolean) =>
    ({
      name,
      start: async ({ runId }) => runId,
      find: async () => null,
      async inspect(handles) {
        if (isUnavailable()) throw new Outage('The data directory is missing')
        inspected[name] += handles.length
        return handles.map(() => ({ state: 'running' as const }))
      },
      async *logs(_handle, _from, signal) {
        yield { stream: 'STDOUT', bytes: Buffer.from('begun'), next: null }
        await once(signal, 'abort')
      },
      list: async () => [],
      forget: async () => {},
    }) satisfies Partial<Executor> as unknown as Executor
  const leader = await createLeader(domain, 'sim')
  for (const executor of ['local', 'simulated']) await it.submit({ command: ['true'], executor })
  await leader.tick()
  const executors = new Map([
    ['local', fake('local', () => isAway)],
    ['simulated', fake('simulated', () => false)],
  ])
  const runner = new Runner(carrierOptions(domain, leader, { nodeLostAfterMs: 1 }), executors)
  runner.start()
  opened.defer(() => runner.stop())
  const states = async () =>
    (await database.db.sql.query<{ state: string }>('SELECT state FROM job')).map(({ state }) => state)
  await until(async () => (await states()).every((state) => state === 'RUNNING'), { what: 'both run' })
  isAway = true
  const before = inspected.simulated
  await until(() => inspected.simulated > before + 1, { what: 'the other is inspected' })
  expect(await states()).toEqual(['RUNNING', 'RUNNING'])
})
