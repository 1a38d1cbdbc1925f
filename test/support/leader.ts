import type { Domain } from '../../src/domain/domain.ts'
import type { Leader } from '../../src/domain/leadership.ts'
import type { Processed } from '../../src/domain/queue/plan-pools.ts'
import type { Executor } from '../../src/executors/executor.ts'
import { createAppender } from '../../src/logs/append.ts'
import { createForecaster } from '../../src/scheduler/forecaster.ts'
import { createReporter } from '../../src/scheduler/reports.ts'
import type { Carrying } from '../../src/scheduler/run-carrier.ts'
import { createScheduler, type Scheduler, type SchedulerOptions } from '../../src/scheduler/scheduler.ts'
import { createStoredPool } from '../../src/scheduler/stored-pool.ts'
import { createTicker } from '../../src/scheduler/ticker.ts'

/**
 * A leader without election and lease renewal: it holds epoch 1 of the pool, and reads changes, decides and answers
 * when a test calls it.
 */
export interface TestLeader extends Leader {
  tick(): Promise<Processed>
  /** Forecasts when waiting jobs start. */
  forecast(): Promise<void>
  /** Returns the time until the next forecast. */
  forecastPauseMs(): number
}

/** Options of a carrier, for runs without output files. */
export const carrierOptions = (domain: Domain, leader: Leader, more: Partial<Carrying> = {}): Carrying => ({
  domain,
  leader,
  report: createReporter(domain, leader, 1),
  append: createAppender(domain.db.sql),
  withdraw() {},
  outputs: { collect: async () => true },
  graceMs: 1_000,
  nodeLostAfterMs: 60_000,
  logBytesPerRunMax: 2 ** 20,
  jobUrl: 'http://127.0.0.1',
  ...more,
})

/** Starts the scheduler of pool `sim`. The test must stop it. */
export function startScheduler(
  domain: Domain,
  executors: Record<string, Executor>,
  more: Partial<SchedulerOptions> = {},
): Scheduler {
  const scheduler = createScheduler({
    domain,
    pool: 'sim',
    executors: new Map(Object.entries(executors)),
    holder: 'test',
    host: 'test',
    place: null,
    direct: true,
    graceMs: 1_000,
    nodeLostAfterMs: 60_000,
    startAttemptsMax: 3,
    logBytesPerRunMax: 1024 ** 2,
    outputLimits: { bytesMax: 1024 ** 3, filesMax: 1_000, userBytesMax: 1024 ** 3 },
    jobUrl: 'http://127.0.0.1',
    ...more,
  })
  scheduler.start()
  return scheduler
}

export async function createLeader(domain: Domain, pool: string): Promise<TestLeader> {
  const { sql } = domain.db
  await sql.query("INSERT INTO scheduler_leader (pool, epoch, holder, host) VALUES ($1, 1, 'test', 'test')", [pool])
  await sql.query("INSERT INTO scheduler_lease (pool, renewed_at) VALUES ($1, 'infinity')", [pool])
  const leader = { pool, epoch: 1, holder: 'test' }
  let answering: Promise<void> | undefined
  const ticker = createTicker({
    domain,
    leader,
    store: createStoredPool(domain, leader),
    answerForecasts,
    publishEveryMs: 0,
  })
  const forecaster = createForecaster({ domain, leader, copy: ticker.copy, graceMs: 1_000 })
  /** Answers one at a time. Ignores errors, because the end of a test closes the database. */
  function answerForecasts() {
    const { signal } = new AbortController()
    answering ??= forecaster.answer(signal).catch(() => undefined)
    void answering.finally(() => {
      answering = undefined
    })
  }
  return {
    ...leader,
    tick: () => ticker.tick(),
    forecast: () => forecaster.forecast(new AbortController().signal),
    forecastPauseMs: forecaster.pauseMs,
  }
}
