import { markSeen, markSilentNodesLost, readSeenNodes, returnNodes } from '../domain/jobs/lost-runs.ts'
import { runAsLeader } from '../domain/leadership.ts'
import type { Executor } from '../executors/executor.ts'
import type { Carrying } from './run-carrier.ts'

/**
 * Checks every node of the pool, also nodes without runs: otherwise an unreachable idle node would get one waiting job
 * after the other. A node that is unreachable for `nodeLostAfterMs` becomes LOST. It returns when it is reachable and
 * its lost runs are found.
 */
export function createNodeWatch(
  carrying: Pick<Carrying, 'domain' | 'leader' | 'nodeLostAfterMs'>,
  executors: ReadonlyMap<string, Executor>,
): () => Promise<void> {
  const { domain, leader, nodeLostAfterMs } = carrying
  const { db, log, time } = domain
  const silentSince = new Map<string, number>()

  async function findSilent(nodes: readonly string[]): Promise<ReadonlySet<string>> {
    const reported = await Promise.all([...executors.values()].map(async (executor) => executor.silent?.(nodes) ?? []))
    return new Set(reported.flat())
  }

  function overdue(silent: ReadonlySet<string>): string[] {
    for (const name of silentSince.keys()) if (!silent.has(name)) silentSince.delete(name)
    for (const name of silent) if (!silentSince.has(name)) silentSince.set(name, time.nowMs())
    return [...silentSince].flatMap(([name, sinceMs]) => (time.nowMs() - sinceMs >= nodeLostAfterMs ? name : []))
  }

  // A backend that reports its nodes also reports lost nodes (capacity-watch.ts).
  const isDelegated = [...executors.values()].some(({ capacity }) => capacity !== undefined)

  return async () => {
    if (isDelegated) return
    const nodes = await readSeenNodes(db.sql, leader.pool)
    const silent = await findSilent(nodes.map(({ name }) => name))
    const answering = nodes.filter(({ name }) => !silent.has(name))
    const lost = overdue(silent).filter((name) => nodes.some((node) => node.name === name && !node.isLost))
    const due = answering.flatMap(({ name, isDue }) => (isDue ? name : []))
    if (due.length > 0) await runAsLeader(domain, leader, (sql) => markSeen(sql, leader.pool, due))
    if (lost.length > 0) {
      await runAsLeader(domain, leader, (sql) => markSilentNodesLost(sql, leader.pool, lost))
      log.warn({ pool: leader.pool, nodes: lost }, 'nodes are unreachable and LOST')
    }
    const lostAnswering = answering.flatMap(({ name, isLost }) => (isLost ? name : []))
    if (lostAnswering.length === 0) return
    const back = await runAsLeader(domain, leader, (sql) => returnNodes(sql, leader.pool, lostAnswering))
    if (back.length > 0) log.info({ pool: leader.pool, nodes: back }, 'nodes are reachable again')
    if (back.length > 0) domain.wakeups.poke('queue')
  }
}
