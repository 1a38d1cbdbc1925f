import { Unavailable } from '../../platform/tx.ts'
import { demand, type Viewer } from '../access.ts'
import { audit } from '../audit/audit.ts'
import type { Domain } from '../domain.ts'
import { readLedPools } from '../leadership.ts'
import { askLeader, askMsMax, passMsMax, pollMs } from './questions.ts'

/** One pass of every pool with a leader, answered when all of it is committed. */

export interface Processed {
  considered: number
  started: number
  preempted: number
}

export async function processQueue(domain: Domain, viewer: Viewer): Promise<Processed> {
  demand(viewer, 'queue.process')
  const pools = await led(domain)
  await domain.db.transaction((tx) =>
    audit(
      tx,
      viewer,
      pools.map((pool) => ({ action: 'queue.process', objectId: `pool_${pool}`, detail: {} })),
      domain.time.nowMs(),
    ),
  )
  const question = { kind: 'PASS', payload: {}, waitMsMax: passMsMax } as const
  const answers = await Promise.all(pools.map(async (pool) => (await askLeader(domain, pool, question)) as Processed))
  const sum = (count: (one: Processed) => number) => answers.reduce((total, one) => total + count(one), 0)
  return {
    considered: sum(({ considered }) => considered),
    started: sum(({ started }) => started),
    preempted: sum(({ preempted }) => preempted),
  }
}

/** Waits for a leader during a take-over. */
async function led({ db, clock }: Domain): Promise<string[]> {
  for (let waitedMs = 0; waitedMs < askMsMax; waitedMs += pollMs) {
    const pools = await readLedPools(db.sql)
    if (pools.length > 0) return pools
    await clock.sleep(pollMs)
  }
  throw new Unavailable('No pool has a scheduler right now')
}
