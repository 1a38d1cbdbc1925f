import type { Domain } from '../domain/domain.ts'
import { Fenced } from '../domain/leadership.ts'
import { openQuestions } from '../domain/queue/questions.ts'
import { createPlanner, type Leader, type Pass } from './planner.ts'
import { answerQuestions } from './questions.ts'
import type { Store } from './store.ts'

/**
 * What a leader does whenever it is woken: hears, decides, answers, and shows what changed. A pool that does not plan by
 * itself decides only for those who ask for a pass.
 */
export interface Ticker {
  take(): Promise<Pass>
  /** How long nothing can happen without a wake-up. */
  pauseMs(): number
}

export interface TickerOptions {
  domain: Domain
  leader: Leader
  store: Store
  /** Between two publications; default: `publishMs`. */
  publishEveryMs?: number
}

const pollMs = 1_000
/** Others are heard and answered between so many commits. */
const roundsPerTick = 20
/** Who asks for a pass waits for all of it, as long as anybody waits. */
const roundsPerPass = 10_000
const publishMs = 250

const nothing: Pass = { considered: 0, started: 0, preempted: 0 }

export function createTicker({ domain, leader, store, publishEveryMs = publishMs }: TickerOptions): Ticker {
  const { clock, log } = domain
  const planner = createPlanner(store, { log, pool: leader.pool })
  let leads = true
  let goesOn = false
  let publishedMs = Number.NEGATIVE_INFINITY

  const untilPublishedMs = () => Math.max(0, publishEveryMs - (clock.monotonicMs() - publishedMs))

  async function publish() {
    if (await planner.publish()) publishedMs = clock.monotonicMs()
  }

  async function decide(roundsMax: number): Promise<Pass> {
    const { isDone, ...pass } = await planner.pass(roundsMax)
    goesOn = !isDone
    return pass
  }

  async function turn(): Promise<Pass> {
    const questions = await openQuestions(domain, leader.pool)
    const asked = questions.some(({ kind }) => kind === 'PASS')
    const { settings } = (await planner.hear()).state
    goesOn = false
    const pass = settings.automatic || asked ? await decide(asked ? roundsPerPass : roundsPerTick) : null
    // Who asked for a pass reads next what became of it.
    if (asked || untilPublishedMs() === 0) await publish()
    await answerQuestions({ domain, leader, planner, pass }, questions)
    return pass ?? nothing
  }

  return {
    async take() {
      leads = true
      try {
        return await turn()
      } catch (error) {
        // Another process leads: this one is told in a moment, and nothing was written.
        if (!(error instanceof Fenced)) throw error
        planner.forget()
        leads = false
        return nothing
      }
    },
    pauseMs() {
      if (!leads) return pollMs
      if (goesOn) return 0
      return Math.min(planner.waitMs() ?? pollMs, planner.owes ? untilPublishedMs() : pollMs, pollMs)
    },
  }
}
