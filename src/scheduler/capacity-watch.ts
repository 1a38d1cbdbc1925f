import type { Domain } from '../domain/domain.ts'
import type { Leader } from '../domain/leadership.ts'
import { storeReport } from '../domain/machines/backend-nodes.ts'
import type { BackendNode, Executor } from '../executors/executor.ts'
import { createLoop, type Loop } from '../platform/loop.ts'
import { backOffMs } from '../platform/retry.ts'

/**
 * Polls the nodes of the pool's backend and stores changes. While the backend is unreachable, the stored nodes do not
 * change; the outage is logged once.
 */

const pollMs = 10_000
/** A leader whose backend is unreachable for this time gives up the pool, because another process may reach the backend. */
const silentMs = 30_000
/**
 * `silentMs` doubles with each consecutive term without an answer, up to this maximum: then the backend is probably
 * down for every process.
 */
const silentMsMax = 600_000
const answerMsMax = 4_000

export type Reach = ReturnType<typeof createReachability>

/** Tracks across terms whether this process reaches the backend. */
export function createReachability(domain: Domain, executors: ReadonlyMap<string, Executor>) {
  const { clock, log } = domain
  const backend = [...executors.values()].find(({ capacity }) => capacity !== undefined)
  let termsWithoutAnswer = 0

  async function ask(): Promise<readonly BackendNode[]> {
    const nodes = await backend?.capacity?.()
    termsWithoutAnswer = 0
    return nodes ?? []
  }

  /** true: the backend is reachable, or the pool has no backend. */
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

  /**
   * Calls `onSilent` when the backend has been unreachable for `silentMs`, so that the leader gives up the pool; calls
   * it again if the leader stays. Returns null for a pool without a backend.
   */
  function watch(leader: Leader, onSilent: () => void): Loop | null {
    if (!backend) return null
    const about = { pool: leader.pool, executor: backend.name }
    let answers = true
    let sinceMs = clock.monotonicMs()
    let limitMs = backOffMs(termsWithoutAnswer, silentMs, silentMsMax)
    termsWithoutAnswer++

    function answered(): void {
      if (!answers) log.info(about, 'the backend is reachable again')
      answers = true
      sinceMs = clock.monotonicMs()
      limitMs = silentMs
    }

    function failed(err: unknown): void {
      if (answers) log.warn({ ...about, err }, 'the backend is unreachable; its nodes stay as they were')
      answers = false
      if (clock.monotonicMs() - sinceMs < limitMs) return
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
