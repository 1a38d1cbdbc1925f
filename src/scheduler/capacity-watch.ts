import type { Domain } from '../domain/domain.ts'
import { storeReport } from '../domain/machines/backend-nodes.ts'
import type { BackendNode, Executor } from '../executors/executor.ts'
import type { Clock } from '../platform/clock.ts'
import { createLoop, type Loop } from '../platform/loop.ts'
import type { Leader } from './planner.ts'

/**
 * Asks the backend of a pool for its nodes, and stores what changed, as long as this process leads the pool. A backend
 * that does not answer changes nothing: its nodes are planned with as they were, and the log tells it once. `onSilent` is
 * called each time it has not answered this process for `silentMs`, because it may answer another one. null: Berth
 * knows the nodes of the pool itself.
 */

const pollMs = 10_000
export const silentMs = 30_000
/** A backend that takes longer for its nodes cannot be reached by this process. */
const answerMsMax = 4_000

const backendOf = (executors: ReadonlyMap<string, Executor>): Executor | undefined =>
  [...executors.values()].find(({ capacity }) => capacity !== undefined)

/** Whether the backend of the pool tells this process its nodes; a pool without such a backend always can be served. */
export async function canServe(executors: ReadonlyMap<string, Executor>, clock: Clock): Promise<boolean> {
  const backend = backendOf(executors)
  if (!backend) return true
  const asked = new AbortController()
  const answered = backend.capacity?.().then(
    () => true,
    () => false,
  )
  const isLate = clock.sleep(answerMsMax, asked.signal)
  return (await Promise.race([answered, isLate]).finally(() => asked.abort())) ?? false
}

export function createCapacityWatch(
  domain: Domain,
  leader: Leader,
  executors: ReadonlyMap<string, Executor>,
  onSilent: () => void,
): Loop | null {
  const { clock, log } = domain
  const backend = backendOf(executors)
  if (!backend) return null
  const about = { pool: leader.pool, executor: backend.name }
  let answers = true
  let answeredMs = clock.monotonicMs()

  async function ask(): Promise<readonly BackendNode[] | null> {
    try {
      const nodes = await backend?.capacity?.()
      if (!answers) log.info(about, 'the backend tells its nodes again')
      answers = true
      answeredMs = clock.monotonicMs()
      return nodes ?? null
    } catch (error) {
      if (answers) log.warn({ ...about, err: error }, 'the backend does not tell its nodes; they stay as they were')
      answers = false
      if (clock.monotonicMs() - answeredMs >= silentMs) {
        answeredMs = clock.monotonicMs()
        onSilent()
      }
      return null
    }
  }

  return createLoop({
    name: `capacity ${leader.pool}`,
    pollMs,
    clock,
    log,
    async runOnce() {
      const nodes = await ask()
      if (nodes) await storeCapacity(domain, leader, nodes)
    },
  })
}

export async function storeCapacity(domain: Domain, leader: Leader, reported: readonly BackendNode[]): Promise<void> {
  const changed = await storeReport(domain, leader, reported)
  if (!changed) return
  const { added, missing, removed } = changed
  if (added.length + missing.length + removed.length > 0)
    domain.log.info({ pool: leader.pool, added, missing, removed }, 'the nodes of a pool changed in its backend')
  domain.wakeups.poke('queue')
}
