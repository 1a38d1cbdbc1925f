import { afterEach, beforeEach, expect, test } from 'vitest'
import { cancelJob } from '../../src/domain/control/cancel.ts'
import { type Executor, StartFailed } from '../../src/executors/executor.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { openTestDomainForEach } from '../support/domain.ts'
import { bindVerbs } from '../support/executor-verbs.ts'
import { openSimulated } from '../support/fake-backend.ts'
import { startScheduler } from '../support/leader.ts'
import { until } from '../support/until.ts'

/** Jobs that are cancelled while their backend starts them, for example while it pulls an image. */
const { database, it } = openTestDomainForEach()
let inner: Executor
let scheduler: Scheduler
/** Resolves when a start has begun. */
let begun: PromiseWithResolvers<void>
/** Ids of the runs that the executor was asked to find. */
let found: string[]

beforeEach(async () => {
  inner = await openSimulated(it.domain)
  begun = Promise.withResolvers()
  found = []
})
afterEach(async () => {
  await scheduler.stop()
  await inner.close()
})

function lead(start: Executor['start']): void {
  const simulated: Executor = {
    ...bindVerbs(inner),
    start(run, unwanted) {
      begun.resolve()
      return start(run, unwanted)
    },
    find(runId) {
      found.push(runId)
      return inner.find(runId)
    },
  }
  scheduler = startScheduler(it.domain, { simulated }, { holder: 'a' })
}

async function submitAndCancel(): Promise<string> {
  const id = await it.submit({ environment: [{ name: 'SIM_RUN_SECONDS', value: '3600' }] })
  await begun.promise
  await cancelJob(it.domain, it.admin, { jobId: id })
  return id
}

const ends = (id: string) =>
  until(
    async () => {
      const [row] = await database.db.sql.query<{ info: string }>(
        "SELECT state_info AS info FROM job WHERE id = $1 AND state = 'CANCELLED'",
        [id],
      )
      return row
    },
    { what: `${id} is over` },
  )

/** A start that waits for an image until it is aborted. */
const untilUnwanted = (unwanted: AbortSignal | undefined) =>
  new Promise<void>((resolve) => unwanted?.addEventListener('abort', () => resolve(), { once: true }))

test('a start that is aborted before anything exists ends the job at once, and its files are deleted', async () => {
  const runs: string[] = []
  lead(async ({ runId }, unwanted) => {
    runs.push(runId)
    await untilUnwanted(unwanted)
    throw new StartFailed('START_FAILED', 'The start was aborted')
  })
  expect(await ends(await submitAndCancel())).toMatchObject({ info: 'Cancelled before it was started' })
  await until(() => found.length > 0, { what: 'it is looked for' })
  expect(found).toEqual(runs)
})

test('a run that started is stopped although its aborted start returned no handle', async () => {
  const runs: string[] = []
  lead(async (run, unwanted) => {
    runs.push(run.runId)
    await untilUnwanted(unwanted)
    await inner.start(run)
    throw new StartFailed('START_FAILED', 'The engine refused')
  })
  expect(await ends(await submitAndCancel())).toMatchObject({ info: 'Cancelled before it was started' })
  const [runId = ''] = runs
  await until(() => found.length > 0, { what: 'it is looked for' })
  await until(async () => (await inner.find(runId)) === null, { what: 'it is stopped and forgotten' })
})

test('after an aborted start with an unknown result, the run is searched for and stopped', async () => {
  lead(async (run, unwanted) => {
    await untilUnwanted(unwanted)
    await inner.start(run)
    throw new Error('The answer was lost')
  })
  expect(await ends(await submitAndCancel())).toMatchObject({ info: 'Signal 15 ended it' })
})

test('a leader that stops aborts its starts', async () => {
  const given = Promise.withResolvers<void>()
  lead(async (_, unwanted) => {
    await untilUnwanted(unwanted)
    given.resolve()
    throw new Error('dropped')
  })
  await it.submit({})
  await begun.promise
  await scheduler.stop()
  await given.promise
})
