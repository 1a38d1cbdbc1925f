import { Unavailable } from '../../platform/tx.ts'
import { demand, type Viewer } from '../access.ts'
import { audit } from '../audit/audit.ts'
import type { Domain } from '../domain.ts'
import { NotFound } from '../errors.ts'
import { readLedPools } from '../leadership.ts'
import { askLeader, askMsMax, passMsMax, pollMs } from './questions.ts'

export type Processed = Record<'considered' | 'started' | 'preempted', number>

/** Requests a pass of a pool, or of every pool with a leader. Returns after all decisions are committed. */
export async function planPools(
  domain: Domain,
  viewer: Viewer,
  { pool = null }: { pool?: string | null | undefined } = {},
): Promise<Processed> {
  demand(viewer, 'pool.plan')
  if (pool !== null) await demandPool(domain, pool)
  const pools = pool === null ? await waitForLedPools(domain) : [pool]
  await domain.db.transaction((tx) =>
    audit(
      tx,
      viewer,
      pools.map((pool) => ({ action: 'pool.plan', objectId: `pool_${pool}`, detail: {} })),
      domain.time.nowMs(),
    ),
  )
  const question = { kind: 'PASS', payload: {}, waitMsMax: passMsMax } as const
  const answers = await Promise.all(pools.map(async (pool) => (await askLeader(domain, pool, question)) as Processed))
  const sum = (field: keyof Processed) => answers.reduce((total, one) => total + one[field], 0)
  return { considered: sum('considered'), started: sum('started'), preempted: sum('preempted') }
}

async function demandPool({ db }: Domain, name: string): Promise<void> {
  const found = await db.prisma.pool.count({ where: { name } })
  if (found === 0) throw new NotFound(`Pool ${name.slice(0, 64)} not found`)
}

/** Reads the pools with a leader. Without any leader, waits for a take-over that may be in progress. */
async function waitForLedPools({ db, clock }: Domain): Promise<string[]> {
  for (let waitedMs = 0; waitedMs < askMsMax; waitedMs += pollMs) {
    const pools = await readLedPools(db.sql)
    if (pools.length > 0) return pools
    await clock.sleep(pollMs)
  }
  throw new Unavailable('No pool has a scheduler right now')
}
