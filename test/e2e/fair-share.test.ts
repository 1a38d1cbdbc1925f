import { expect, test } from 'vitest'
import { systemClock } from '../../src/platform/clock.ts'
import { N8, startCluster } from '../support/cluster.ts'
import { mutate } from '../support/people.ts'
import { until } from '../support/until.ts'

/** Accounts whose jobs wait on a real server with the simulated executor, the first account's submitted first. */
const starts = 1_000
const atOnce = 25

test.each([
  { accounts: 3, shareHalfLifeMs: null, within: 0.02 },
  { accounts: 8, shareHalfLifeMs: null, within: 0.02 },
  { accounts: 3, shareHalfLifeMs: 2_000, within: 0.05 },
])(
  '$accounts equal accounts, half-life $shareHalfLifeMs: equal parts of 1,000 starts',
  {
    timeout: 180_000,
  },
  async ({ accounts, shareHalfLifeMs, within }) => {
    await using it = await startCluster({
      mode: 'loop',
      clock: systemClock,
      policy: 'FAIR_SHARE',
      nodes: [N8()],
      scheduling: { shareHalfLifeMs, nonPreemptableFraction: 1 },
    })
    const pause = (maxConcurrent: number | null) =>
      mutate(it.admin, 'updateLimits', { input: { maxConcurrent }, wanted: 'limits { maxConcurrent }' })
    await pause(0)
    // A fifth more than start, so that every account has jobs waiting until the last start that counts.
    const asks = Array.from({ length: accounts }, (_, at) => `a${at}`).flatMap((account) =>
      Array.from({ length: Math.ceil((starts * 1.2) / accounts) }, () => ({
        gpu: 1,
        cpu: 0.1,
        seconds: 0.05,
        account,
      })),
    )
    for (let at = 0; at < asks.length; at += atOnce)
      await Promise.all(asks.slice(at, at + atOnce).map((ask) => it.submit(ask)))
    await pause(null)
    const count = async () =>
      (await it.sql<{ n: number }>('SELECT count(*)::int AS n FROM run WHERE scheduled_at IS NOT NULL'))[0]?.n
    await until(async () => (await count()) === asks.length, { what: 'all jobs have started', timeoutMs: 120_000 })
    const got = await it.sql<{ n: number }>(
      `SELECT count(*)::int AS n FROM (SELECT job_id FROM run ORDER BY scheduled_at, id LIMIT ${starts}) r
     JOIN job j ON j.id = r.job_id GROUP BY j.spec->>'account'`,
    )
    expect(got).toHaveLength(accounts)
    const fair = starts / accounts
    for (const { n } of got) expect(Math.abs(n - fair)).toBeLessThanOrEqual(Math.max(fair * within, 1))
  },
)
