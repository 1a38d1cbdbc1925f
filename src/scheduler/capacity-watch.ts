import type { Domain } from '../domain/domain.ts'
import type { Leader } from '../domain/leadership.ts'
import { storeReport } from '../domain/machines/backend-nodes.ts'
import type { BackendNode, Executor } from '../executors/executor.ts'
import { createLoop, type Loop } from '../platform/loop.ts'

/**
 * Asks the backend of a pool for its nodes, and stores what changed, as long as this process leads the pool. A backend
 * that does not answer changes nothing: its nodes are planned with as they were, and the log tells it once.
 */

const pollMs = 10_000
/** A leader without an answer for this long leaves the pool, because another process may get one. */
const silentMs = 30_000
/** It doubles with each term in a row in which this process got no answer, up to this: then no process may get one. */
const silentMsMax = 600_000
/** A backend that takes longer for its nodes cannot be reached by this process. */
const answerMsMax = 4_000

/** What this process knows of the backend, over all its terms. */
export interface Reach {
  /** Whether the backend tells this process its nodes; a pool without such a backend always can be served. */
  canServe(): Promise<boolean>
  /** `onSilent` is called when the leader should leave the pool, and again if it did not. null: Berth knows the nodes itself. */
  watch(leader: Leader, onSilent: () => void): Loop | null
}

export function createReach(domain: Domain, executors: ReadonlyMap<string, Executor>): Reach {
  const { clock, log } = domain
  const backend = [...executors.values()].find(({ capacity }) => capacity !== undefined)
  let termsWithoutAnswer = 0

  async function ask(): Promise<readonly BackendNode[]> {
    const nodes = await backend?.capacity?.()
    termsWithoutAnswer = 0
    return nodes ?? []
  }

  async function canServe(): Promise<boolean> {
    if (!backend) return true
    const asked = new AbortController()
    const answered = ask().then(
      () => true,
      () => false,
    )
    const isLate = clock.sleep(answerMsMax, asked.signal)
    return (await Promise.race([answered, isLate]).finally(() => asked.abort())) ?? false
  }

  function watch(leader: Leader, onSilent: () => void): Loop | null {
    if (!backend) return null
    const about = { pool: leader.pool, executor: backend.name }
    let answers = true
    let sinceMs = clock.monotonicMs()
    let patienceMs = Math.min(silentMsMax, silentMs * 2 ** termsWithoutAnswer)
    termsWithoutAnswer++

    function answered(): void {
      if (!answers) log.info(about, 'the backend tells its nodes again')
      answers = true
      sinceMs = clock.monotonicMs()
      patienceMs = silentMs
    }

    function failed(err: unknown): void {
      if (answers) log.warn({ ...about, err }, 'the backend does not tell its nodes; they stay as they were')
      answers = false
      if (clock.monotonicMs() - sinceMs < patienceMs) return
      sinceMs = clock.monotonicMs()
      onSilent()
    }

    async function runOnce(): Promise<void> {
      const nodes = await ask().catch(failed)
      if (!nodes) return
      answered()
      await storeCapacity(domain, leader, nodes)
    }

    return createLoop({ name: `capacity ${leader.pool}`, pollMs, clock, log, runOnce })
  }

  return { canServe, watch }
}

export async function storeCapacity(domain: Domain, leader: Leader, reported: readonly BackendNode[]): Promise<void> {
  const changed = await storeReport(domain, leader, reported)
  if (!changed) return
  const { added, missing, removed } = changed
  if (added.length + missing.length + removed.length > 0)
    domain.log.info({ pool: leader.pool, added, missing, removed }, 'the nodes of a pool changed in its backend')
  domain.wakeups.poke('queue')
}
