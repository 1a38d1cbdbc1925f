import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { findViolations } from '../../src/domain/selfcheck/selfcheck.ts'
import type { Executor } from '../../src/executors/executor.ts'
import { createLocalExecutor } from '../../src/executors/local/local.ts'
import { createSimulatedExecutor } from '../../src/executors/simulated/simulated.ts'
import { readLog } from '../../src/logs/read.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createLog } from '../../src/platform/log.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { openDatabaseForEach } from '../support/database.ts'
import { makeDirectory } from '../support/directory.ts'
import { createTestDomainOver, type TestDomain } from '../support/domain.ts'
import { startScheduler } from '../support/leader.ts'
import { until } from '../support/until.ts'

/** The clocks of this process and of the database differ by hours, or one of them is set while a job runs. */
const log = createLog('silent')
const hourMs = 3_600_000

const database = openDatabaseForEach()
let it: TestDomain
let dataDir: string
let executors: Record<'simulated' | 'local', Executor>
let scheduler: Scheduler | undefined

afterEach(async () => {
  await scheduler?.stop()
  expect(await findViolations(database.db.sql)).toEqual([])
  for (const executor of Object.values(executors)) await executor.close()
  await it[Symbol.asyncDispose]()
})

async function open() {
  it = await createTestDomainOver(database.db, { pool: { executors: ['simulated', 'local'] } })
  dataDir = makeDirectory()
  const own = { clock: systemClock, time: it.time, log }
  executors = {
    simulated: await createSimulatedExecutor({ dataDir, ...own }),
    local: await createLocalExecutor({ spoolDir: dataDir, environment: process.env, ...own }),
  }
  scheduler = startScheduler(it.domain, executors)
}

async function setClock(ms: number) {
  await database.moveTime(ms)
  await it.time.look()
}

interface Facts {
  state: string
  info: string | null
  createdAt: Date
  startedAt: Date
  finishedAt: Date
  now: Date
}

async function toFacts(id: string): Promise<Facts> {
  const [facts] = await database.db.sql.query<Facts>(
    `SELECT state, state_info AS info, created_at AS "createdAt", started_at AS "startedAt", finished_at AS "finishedAt",
       berth_now() AS now FROM job WHERE id = $1`,
    [id],
  )
  if (!facts) throw new Error(`No job ${id}`)
  return facts
}

const end = (id: string) =>
  until(
    async () => {
      const facts = await toFacts(id)
      return facts.finishedAt !== null && facts
    },
    { what: `${id} is over` },
  )

const short = {
  local: { executor: 'local', command: ['/bin/sh', '-c', 'sleep 0.1'], maxRunTimeSeconds: 60 },
  simulated: {
    executor: 'simulated',
    environment: [{ name: 'SIM_RUN_SECONDS', value: '0.1' }],
    maxRunTimeSeconds: 60,
  },
}

test.each([2, -2])('jobs succeed with timestamps of the database although its clock is %i h off', async (hours) => {
  await database.moveTime(hours * hourMs)
  await open()
  const ids = [await it.submit(short.local), await it.submit(short.simulated)]
  for (const { state, info, createdAt, startedAt, finishedAt, now } of await Promise.all(ids.map(end))) {
    expect({ state, info }).toEqual({ state: 'SUCCEEDED', info: null })
    const times = [createdAt, startedAt, finishedAt, now].map((time) => time.getTime())
    expect(times).toEqual(times.toSorted((a, b) => a - b))
    expect(finishedAt.getTime() - startedAt.getTime()).toBeGreaterThan(50)
  }
})

/** Prints a line and ends on request. */
function told() {
  const file = join(dataDir, 'go')
  const wait = 'while [ ! -e "$0.$1" ]; do sleep 0.05; done; echo $1'
  const spec = { command: ['/bin/sh', '-c', `set -- 1; ${wait}; set -- 2; ${wait}`, file], executor: 'local' }
  return { spec, go: (step: number) => writeFile(`${file}.${step}`, '') }
}

const has = (id: string, what: string) =>
  until(async () => (await readLog(database.db.sql, { jobId: id, streams: ['STDOUT'], linesMax: 9 })).text === what, {
    what: `${id} has printed ${what}`,
  })

describe('a change of the database clock while a job runs', () => {
  test.each([2, -2])('by %i h does not end the job, under this leader or the next', async (hours) => {
    await open()
    const { spec, go } = told()
    const id = await it.submit({ ...spec, maxRunTimeSeconds: 600 })
    await until(async () => (await toFacts(id)).state === 'RUNNING', { what: 'it runs' })
    await setClock(hours * hourMs)
    await scheduler?.stop()
    scheduler = startScheduler(it.domain, executors, { holder: 'next' })
    await go(1)
    await has(id, '1\n')
    await go(2)
    const { state, info, startedAt, finishedAt } = await end(id)
    expect({ state, info }).toEqual({ state: 'SUCCEEDED', info: null })
    expect(finishedAt.getTime()).toBeGreaterThanOrEqual(startedAt.getTime())
  })

  /** Uses the simulated executor, because a local run also has a deadline of its own. */
  test('does not disable the maximum run time of the job', async () => {
    await open()
    const endless = { executor: 'simulated', environment: [{ name: 'SIM_RUN_SECONDS', value: '600' }] }
    const id = await it.submit({ ...endless, maxRunTimeSeconds: 1 })
    await until(async () => (await toFacts(id)).state === 'RUNNING', { what: 'it runs' })
    await setClock(-2 * hourMs)
    expect(await end(id)).toMatchObject({ state: 'FAILED', info: 'The run reached its maximum run time of 1 s' })
  })
})
