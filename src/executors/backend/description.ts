import type { Clock } from '../../platform/clock.ts'
import type { ExecutorDescription } from '../executor.ts'

/** A server that starts does not wait for a backend that is frozen. */
const answerMsMax = 5_000

export const unavailable = (message: string): ExecutorDescription => ({ version: null, available: false, message })

/** What the backend tells of itself; `silent`: why it counts as unavailable if it does not answer soon. */
export async function describedSoon(
  clock: Clock,
  asked: Promise<ExecutorDescription>,
  silent: string,
): Promise<ExecutorDescription> {
  const late = new AbortController()
  const unanswered = clock.sleep(answerMsMax, late.signal).then(() => unavailable(silent))
  return Promise.race([asked, unanswered]).finally(() => late.abort())
}
