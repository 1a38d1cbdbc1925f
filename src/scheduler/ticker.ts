import type { Domain } from '../domain/domain.ts'
import { Fenced, type Leader } from '../domain/leadership.ts'
import type { Processed } from '../domain/queue/plan-pools.ts'
import { readOpenQuestions } from '../domain/queue/questions.ts'
import { settleAll } from '../platform/tx.ts'
import type { Store } from './plan/leader-store.ts'
import type { Snapshot } from './plan/model.ts'
import { Planner } from './planner.ts'
import { answerQuestions } from './questions.ts'
import { passes } from './run-metrics.ts'

export type Ticker = ReturnType<typeof createTicker>

interface TickerOptions {
  domain: Domain
  leader: Leader
  store: Store
  answerForecasts: () => void
  publishEveryMs?: number
}

const pollMs = 1_000
/** Maximum number of rounds per tick, so that questions are answered between rounds. */
const roundsPerTick = 20
const roundsPerPass = 10_000

const nothing: Processed = { considered: 0, started: 0, preempted: 0 }

/**
 * A tick of a leader reads changes, makes a pass, answers questions, and publishes. In a pool without automatic
 * scheduling, passes happen only on request.
 */
export function createTicker({ domain, leader, store, answerForecasts, publishEveryMs = 250 }: TickerOptions) {
  const { clock, log } = domain
  const planner = new Planner(store, { log, pool: leader.pool })
  let leads = true
  let continues = false
  let publishedMs = Number.NEGATIVE_INFINITY

  const untilPublishedMs = () => Math.max(0, publishEveryMs - (clock.monotonicMs() - publishedMs))

  async function publish() {
    if (await planner.publish()) publishedMs = clock.monotonicMs()
  }

  /** `asked`: a client requested the pass, which must include the changes from before its question. */
  async function decide(asked: boolean): Promise<Processed> {
    const endTimer = passes.startTimer({ pool: leader.pool })
    const { isDone, ...pass } = await planner.pass(asked ? roundsPerPass : roundsPerTick, !asked)
    endTimer()
    continues = !isDone
    return pass
  }

  async function tick(): Promise<Processed> {
    const [questions, world] = await settleAll([readOpenQuestions(domain, leader.pool), planner.hear()])
    const asked = questions.some(({ kind }) => kind === 'PASS')
    continues = false
    const pass = world.state.settings.automatic || asked ? await decide(asked) : null
    // Publishes at once for a client that requested a pass, because it reads the queue next.
    if (asked || untilPublishedMs() === 0) await publish()
    await answerQuestions({ domain, leader, planner, pass, answerForecasts }, questions)
    return pass ?? nothing
  }

  return {
    async tick(): Promise<Processed> {
      leads = true
      try {
        return await tick()
      } catch (error) {
        if (!(error instanceof Fenced)) throw error
        planner.forget()
        leads = false
        return nothing
      }
    },
    /** null: the world of the pool is not loaded. */
    copy: (): Snapshot | null => planner.copy(),
    pauseMs(): number {
      if (!leads) return pollMs
      if (continues) return 0
      return Math.min(planner.waitMs() ?? pollMs, planner.hasUnpublished ? untilPublishedMs() : pollMs, pollMs)
    },
  }
}
