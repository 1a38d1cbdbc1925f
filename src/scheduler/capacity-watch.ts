import type { Domain } from '../domain/domain.ts'
import { storeReport } from '../domain/machines/backend-nodes.ts'
import type { BackendNode, Executor } from '../executors/executor.ts'
import { createLoop, type Loop } from '../platform/loop.ts'
import type { Leader } from './planner.ts'

/**
 * Asks the backend of a pool for its nodes, and stores what changed, as long as this process leads the pool. A backend
 * that does not answer changes nothing: its nodes are planned with as they were, and the log tells it once. null: Berth
 * knows the nodes of the pool itself.
 */

const pollMs = 10_000

export function createCapacityWatch(
  domain: Domain,
  leader: Leader,
  executors: ReadonlyMap<string, Executor>,
): Loop | null {
  const { clock, log } = domain
  const [backend] = [...executors.values()].filter(({ capacity }) => capacity !== undefined)
  if (!backend) return null
  const about = { pool: leader.pool, executor: backend.name }
  let answers = true

  async function ask(): Promise<readonly BackendNode[] | null> {
    try {
      const nodes = await backend?.capacity?.()
      if (!answers) log.info(about, 'the backend tells its nodes again')
      answers = true
      return nodes ?? null
    } catch (error) {
      if (answers) log.warn({ ...about, err: error }, 'the backend does not tell its nodes; they stay as they were')
      answers = false
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
