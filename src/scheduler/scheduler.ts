import { cancelHopeless } from '../domain/dependencies.ts'
import type { Domain } from '../domain/domain.ts'
import type { Executor } from '../executors/executor.ts'
import { createLeadership, Fenced } from '../platform/leadership.ts'
import { createLoop } from '../platform/loop.ts'
import { answerQuestions } from './questions.ts'
import { createReporter } from './reports.ts'
import { createRunner } from './runner.ts'
import { type Leader, tick } from './tick.ts'

/**
 * The scheduler of one pool in this process: competes for the leadership, and while it leads, plans and carries runs.
 * It holds nothing that a restart cannot rebuild from the database and from the executors.
 */
export interface Scheduler {
  start(): void
  /** Stops planning and carrying, then hands over. Runs go on. */
  stop(): Promise<void>
}

export interface SchedulerOptions {
  domain: Domain
  pool: string
  executors: ReadonlyMap<string, Executor>
  holder: string
  host: string
  /** false: behind a transaction pooler. */
  direct: boolean
  graceMs: number
  nodeLostAfterMs: number
  startAttemptsMax: number
  logBytesPerRunMax: number
  jobUrl: string
}

const pollMs = 1_000

export function createScheduler(options: SchedulerOptions): Scheduler {
  const { domain, pool, holder, host, direct } = options
  const { clock, log } = domain
  let term: Term | null = null
  /** A term must have ended before the next begins: two runners of one process must not carry the same run. */
  let ending: Promise<void> = Promise.resolve()

  const leadership = createLeadership({
    db: domain.db,
    key: pool,
    holder,
    host,
    direct,
    clock,
    log,
    onGained(epoch) {
      const mine = createTerm({ pool, epoch }, options)
      term = mine
      void ending.then(mine.start)
    },
    onLost() {
      if (term) ending = term.stop()
      term = null
    },
  })

  return {
    start: () => leadership.start(),
    async stop() {
      await term?.stop()
      await leadership.stop()
      await ending
    },
  }
}

interface Term {
  start(): void
  stop(): Promise<void>
}

function createTerm(leader: Leader, { domain, executors, startAttemptsMax, ...options }: SchedulerOptions): Term {
  const { clock, log } = domain
  const report = createReporter(domain, leader, startAttemptsMax)
  const runner = createRunner({ domain, leader, report, ...options }, executors)
  const ticks = createLoop({
    name: `scheduler ${leader.pool}`,
    pollMs,
    clock,
    log,
    runOnce: () => pass(domain, leader),
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
      runner.start()
      ticks.start()
    },
    async stop() {
      stopped = true
      unsubscribe()
      await Promise.all([ticks.stop(), runner.stop()])
    },
  }
}

async function pass(domain: Domain, leader: Leader): Promise<void> {
  try {
    await tick(domain, leader)
    await answerQuestions(domain, leader)
    await cancelHopeless(domain)
  } catch (error) {
    // Another process leads: this one is told in a moment, and nothing was written.
    if (!(error instanceof Fenced)) throw error
  }
}
