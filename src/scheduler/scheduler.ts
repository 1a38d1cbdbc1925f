import type { Domain } from '../domain/domain.ts'
import { ignoreFenced, type Leader, Leadership, runAsLeader } from '../domain/leadership.ts'
import type { OutputLimits } from '../domain/outputs/selection.ts'
import { measurePool, minuteSeconds } from '../domain/usage/pool-use.ts'
import type { Executor } from '../executors/executor.ts'
import { createAppender } from '../logs/append.ts'
import type { FreshOutput } from '../logs/fresh-output.ts'
import { createLoop, type LoopOptions } from '../platform/loop.ts'
import { createReachability, type Reach } from './capacity-watch.ts'
import { createForecaster } from './forecaster.ts'
import { createOutputCollector } from './output-collector.ts'
import { createReporter } from './reports.ts'
import { Runner } from './runner.ts'
import { createWithdrawals, type Withdrawals } from './stale-starts.ts'
import { createStoredPool } from './stored-pool.ts'
import { createTicker } from './ticker.ts'

/**
 * The scheduler of one pool in this process: competes for the leadership and, while it leads, plans and carries runs.
 * If the backend is unreachable from this machine, it hands the leadership to another process.
 */
export type Scheduler = ReturnType<typeof createScheduler>

export interface SchedulerOptions {
  domain: Domain
  pool: string
  executors: ReadonlyMap<string, Executor>
  holder: string
  host: string
  /** The data directory to which the pool is bound; null: none. */
  place: string | null
  direct: boolean
  graceMs: number
  nodeLostAfterMs: number
  startAttemptsMax: number
  logBytesPerRunMax: number
  outputLimits: OutputLimits
  fresh?: FreshOutput | undefined
  jobUrl: string
}

const endMsMax = 1_000

export function createScheduler(options: SchedulerOptions) {
  const { domain, pool, holder, host, place, direct } = options
  const { clock, log } = domain
  const withdrawals = createWithdrawals(domain, options.graceMs)
  const reach = createReachability(domain, options.executors)
  let term: ReturnType<typeof createTerm> | null = null
  /**
   * A new term waits for the end of the last one, up to a limit. Two runners at once would waste work; but the last
   * term may hang, and the epoch fence keeps it from doing harm.
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
    /** Time since the last completed pass; null: another process leads. */
    readStalledMs: (): number | null => term?.readStalledMs() ?? null,
    async stop(): Promise<void> {
      await term?.stop()
      await leadership.stop()
      await ending
      await withdrawals.stop()
    },
  }
}

/** Poll of the loop that answers previews; ticks wake it too. */
const previewsPollMs = 60_000

type TermOptions = SchedulerOptions & { reach: Reach; giveWay(): void }

function createTerm(
  leader: Leader,
  { domain, executors, startAttemptsMax, outputLimits, reach, giveWay, ...options }: TermOptions,
  { withdraw }: Withdrawals,
) {
  const { clock, log } = domain
  const report = createReporter(domain, leader, startAttemptsMax)
  const append = createAppender(domain.db.sql)
  const outputs = createOutputCollector(domain, outputLimits)
  const runner = new Runner({ domain, leader, report, append, withdraw, outputs, ...options }, executors)
  const ticker = createTicker({
    domain,
    leader,
    store: createStoredPool(domain, leader),
    answerForecasts: () => previews.wake(),
  })
  const loop = (name: string, runOnce: LoopOptions['runOnce'], pollMs: LoopOptions['pollMs']) =>
    createLoop({ name: `${name} ${leader.pool}`, pollMs, clock, log, runOnce })
  let tickedMs = clock.monotonicMs()
  const tick = async () => {
    await ticker.tick()
    tickedMs = clock.monotonicMs()
  }
  const ticks = loop('scheduler', tick, ticker.pauseMs)
  const forecaster = createForecaster({ domain, leader, copy: ticker.copy, graceMs: options.graceMs })
  const forecasts = loop('forecast', forecaster.forecast, forecaster.pauseMs)
  const previews = loop('previews', forecaster.answer, previewsPollMs)
  const measureUse = () => ignoreFenced(runAsLeader(domain, leader, (sql) => measurePool(sql, leader.pool)))
  const useMeter = loop('use', measureUse, minuteSeconds * 1_000)
  const parts = [reach.watch(leader, giveWay), runner, ticks, forecasts, previews, useMeter]
  let listening: (() => void)[] = []
  let stopped = false
  return {
    readStalledMs: () => clock.monotonicMs() - tickedMs,
    start() {
      if (stopped) return
      listening = (['queue', 'question'] as const).map((topic) => domain.wakeups.on(topic, ticks.wake))
      for (const part of parts) part?.start()
    },
    async stop(): Promise<void> {
      stopped = true
      for (const unlisten of listening) unlisten()
      await Promise.all(parts.map((part) => part?.stop()))
    },
  }
}
