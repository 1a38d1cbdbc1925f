import type { Domain } from '../domain/domain.ts'
import { type Leader, Leadership } from '../domain/leadership.ts'
import type { Executor } from '../executors/executor.ts'
import { createAppender } from '../logs/append.ts'
import type { FreshOutput } from '../logs/fresh-output.ts'
import { createLoop } from '../platform/loop.ts'
import { createReachability, type Reach } from './capacity-watch.ts'
import { createForecaster } from './forecaster.ts'
import { createReporter } from './reports.ts'
import { Runner } from './runner.ts'
import { createWithdrawals, type Withdrawals } from './stale-starts.ts'
import { createStored } from './stored-pool.ts'
import { createTicker } from './ticker.ts'

/**
 * The scheduler of one pool in this process: competes for the leadership and, while it leads, plans and carries runs.
 * If the backend of the pool is unreachable from here, it gives way to another process. A restart can rebuild
 * everything it holds from the database and the executors.
 */
export interface Scheduler {
  start(): void
  /** Stops planning and carrying, then hands over. Runs continue. */
  stop(): Promise<void>
}

export interface SchedulerOptions {
  domain: Domain
  pool: string
  executors: ReadonlyMap<string, Executor>
  holder: string
  host: string
  /** The data directory that the pool is bound to; null: the pool is bound to none. */
  place: string | null
  /** false: behind a transaction pooler. */
  direct: boolean
  graceMs: number
  nodeLostAfterMs: number
  startAttemptsMax: number
  logBytesPerRunMax: number
  fresh?: FreshOutput | undefined
  jobUrl: string
}

/** Maximum wait of a term for the end of the last one. */
const endMsMax = 1_000

export function createScheduler(options: SchedulerOptions): Scheduler {
  const { domain, pool, holder, host, place, direct } = options
  const { clock, log } = domain
  const withdrawals = createWithdrawals(domain, options.graceMs)
  const reach = createReachability(domain, options.executors)
  let term: Term | null = null
  /**
   * A term waits for the end of the last one, because two runners of one run waste work. The wait is limited: the last
   * term may hang in a statement, and the fence keeps it from doing harm.
   */
  let ending: Promise<unknown> = Promise.resolve()

  const leadership = new Leadership({
    address: domain.db,
    key: pool,
    holder,
    host,
    place,
    direct,
    clock,
    log,
    canServe: reach.canServe,
    onGained(epoch) {
      const mine = createTerm(
        { pool, epoch, holder },
        { ...options, reach, giveWay: () => leadership.giveWay() },
        withdrawals,
      )
      term = mine
      void Promise.race([ending, clock.sleep(endMsMax)]).then(mine.start)
    },
    onLost() {
      if (term) ending = Promise.all([ending, term.stop()])
      term = null
    },
  })

  return {
    start: () => leadership.start(),
    async stop() {
      await term?.stop()
      await leadership.stop()
      await ending
      await withdrawals.stop()
    },
  }
}

interface Term {
  start(): void
  stop(): Promise<void>
}

interface TermOptions extends SchedulerOptions {
  reach: Reach
  giveWay(): void
}

function createTerm(
  leader: Leader,
  { domain, executors, startAttemptsMax, reach, giveWay, ...options }: TermOptions,
  { withdraw }: Withdrawals,
): Term {
  const { clock, log } = domain
  const report = createReporter(domain, leader, startAttemptsMax)
  const append = createAppender(domain.db.sql)
  const runner = new Runner({ domain, leader, report, append, withdraw, ...options }, executors)
  const ticker = createTicker({ domain, leader, store: createStored(domain, leader) })
  const capacity = reach.watch(leader, giveWay)
  const ticks = createLoop({
    name: `scheduler ${leader.pool}`,
    pollMs: ticker.pauseMs,
    clock,
    log,
    runOnce: ticker.tick,
  })
  const forecaster = createForecaster({ domain, leader, copy: ticker.copy, graceMs: options.graceMs })
  const forecasts = createLoop({
    name: `forecast ${leader.pool}`,
    pollMs: forecaster.pauseMs,
    clock,
    log,
    runOnce: forecaster.forecast,
  })
  let unsubscribe = () => {}
  let stopped = false
  return {
    start() {
      if (stopped) return
      const listening = (['queue', 'question'] as const).map((topic) => domain.wakeups.on(topic, ticks.wake))
      unsubscribe = () => {
        for (const unlisten of listening) unlisten()
      }
      capacity?.start()
      runner.start()
      ticks.start()
      forecasts.start()
    },
    async stop() {
      stopped = true
      unsubscribe()
      await Promise.all([capacity?.stop(), forecasts.stop(), ticks.stop(), runner.stop()])
    },
  }
}
