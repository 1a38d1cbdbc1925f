import type { Domain } from '../domain/domain.ts'
import { Fenced, type Leader } from '../domain/leadership.ts'
import type { Processed } from '../domain/queue/process-queue.ts'
import { openQuestions } from '../domain/queue/questions.ts'
import { settleAll } from '../platform/tx.ts'
import type { Store } from './plan/leader-store.ts'
import type { Snapshot } from './plan/model.ts'
import { Planner } from './planner.ts'
import { answerQuestions } from './questions.ts'

/**
 * A tick of a leader reads changes, makes a pass, answers questions, and publishes. In a pool that does not plan by
 * itself, it makes a pass only on request.
 */
export interface Ticker {
  tick(): Promise<Processed>
  /** Time until the next tick without a wake-up. */
  pauseMs(): number
  /** null: the world is not loaded. */
  copy(): Snapshot | null
}

export interface TickerOptions {
  domain: Domain
  leader: Leader
  store: Store
  /** Between two publications; default: `publishMs`. */
  publishEveryMs?: number
}

const pollMs = 1_000
/** A tick ends after this many rounds, so that it reads changes and answers questions. */
const roundsPerTick = 20
/** A requested pass is made in one tick. */
const roundsPerPass = 10_000
const publishMs = 250

const nothing: Processed = { considered: 0, started: 0, preempted: 0 }

export function createTicker({ domain, leader, store, publishEveryMs = publishMs }: TickerOptions): Ticker {
  const { clock, log } = domain
  const planner = new Planner(store, { log, pool: leader.pool })
  let leads = true
  let continues = false
  let publishedMs = Number.NEGATIVE_INFINITY

  const untilPublishedMs = () => Math.max(0, publishEveryMs - (clock.monotonicMs() - publishedMs))

  async function publish() {
    if (await planner.publish()) publishedMs = clock.monotonicMs()
  }

  /** A requested pass reads the changes from before the question. */
  async function decide(asked: boolean): Promise<Processed> {
    const { isDone, ...pass } = await planner.pass(asked ? roundsPerPass : roundsPerTick, !asked)
    continues = !isDone
    return pass
  }

  async function tick(): Promise<Processed> {
    const [questions, world] = await settleAll([openQuestions(domain, leader.pool), planner.hear()])
    const asked = questions.some(({ kind }) => kind === 'PASS')
    continues = false
    const pass = world.state.settings.automatic || asked ? await decide(asked) : null
    // A client that requested a pass reads the result next.
    if (asked || untilPublishedMs() === 0) await publish()
    await answerQuestions({ domain, leader, planner, pass }, questions)
    return pass ?? nothing
  }

  return {
    async tick() {
      leads = true
      try {
        return await tick()
      } catch (error) {
        // Another process leads: the leadership ends here soon, and no data was written.
        if (!(error instanceof Fenced)) throw error
        planner.forget()
        leads = false
        return nothing
      }
    },
    copy: () => planner.copy(),
    pauseMs() {
      if (!leads) return pollMs
      if (continues) return 0
      return Math.min(planner.waitMs() ?? pollMs, planner.hasUnpublished ? untilPublishedMs() : pollMs, pollMs)
    },
  }
}
