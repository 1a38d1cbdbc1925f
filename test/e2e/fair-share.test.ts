import { expect, test } from 'vitest'
import { systemClock } from '../../src/platform/clock.ts'
import { N8, startCluster } from '../support/cluster.ts'
import { mutate } from '../support/people.ts'
import { until } from '../support/until.ts'
import { isWhole } from '../support/whole.ts'

/**
 * Accounts with waiting jobs on a real server with the simulated executor; the first account submits first. All use the
 * pool all the time. The test counts the GPUs of the first 120 starts, of 960 with `npm run test:whole`; both divide
 * evenly among the accounts. `scheduler/plan/fairness.test.ts` has more cases, in memory.
 */
const starts = isWhole ? 960 : 120
const atOnce = 25
/** Much longer than a busy server needs to notice the end of a run: an account with late ends starts fewer jobs. */
const seconds = 0.5

interface Contest {
  accounts: number
  nodes?: number
  /** GPUs of the jobs of each account, used in rotation. */
  sizes?: readonly number[]
  /** Weight of the last account; the others have 1. */
  weight?: number
  shareHalfLifeMs?: number | null
  within?: number
}

const contests: readonly Contest[] = [
  { accounts: 3, weight: 2 },
  { accounts: 8, nodes: 8, sizes: [8] },
  // The share of past use depends on when ends are noticed, so few starts are less exact.
  { accounts: 3, shareHalfLifeMs: 2_000, within: isWhole ? 0.05 : 0.1 },
]

test.each(contests)(`accounts get their fair share of ${starts} starts: %o`, { timeout: 240_000 }, async (contest) => {
  const { accounts, nodes = 1, sizes = [1], weight = 1, shareHalfLifeMs = null, within = 0.02 } = contest
  const names = Array.from({ length: accounts }, (_, at) => `a${at}`)
  const weightOf = (name: string) => (name === names.at(-1) ? weight : 1)
  await using it = await startCluster({
    mode: 'loop',
    clock: systemClock,
    policy: 'FAIR_SHARE',
    nodes: Array.from({ length: nodes }, (_, at) => N8(`n${at}`)),
    scheduling: { shareHalfLifeMs, nonPreemptableFraction: 1 },
    weights: Object.fromEntries(names.map((name) => [name, weightOf(name)])),
  })
  const pause = (maxConcurrent: number | null) =>
    mutate(it.admin, 'updateLimits', { input: { maxConcurrent }, wanted: 'limits { maxConcurrent }' })
  await pause(0)
  const weights = accounts - 1 + weight
  // Submits a fifth more jobs than start, so that every account has waiting jobs until the last counted start.
  const asks = names.flatMap((account) =>
    Array.from({ length: Math.ceil((starts * 1.2 * weightOf(account)) / weights) }, (_, at) => ({
      gpu: sizes[at % sizes.length] ?? 1,
      cpu: 0.1,
      seconds,
      account,
    })),
  )
  for (let at = 0; at < asks.length; at += atOnce)
    await Promise.all(asks.slice(at, at + atOnce).map((ask) => it.submit(ask)))
  await pause(null)
  const count = async () =>
    (await it.sql<{ n: number }>('SELECT count(*)::int AS n FROM run WHERE scheduled_at IS NOT NULL'))[0]?.n
  await until(async () => (await count()) === asks.length, { what: 'all jobs have started', timeoutMs: 180_000 })
  const got = await it.sql<{ account: string; gpus: number }>(
    `SELECT j.spec->>'account' AS account, sum(j.gpu)::int AS gpus
     FROM (SELECT job_id FROM run ORDER BY scheduled_at, id LIMIT ${starts}) r JOIN job j ON j.id = r.job_id GROUP BY 1`,
  )
  const all = got.reduce((sum, { gpus }) => sum + gpus, 0)
  const parts = new Map(got.map(({ account, gpus }) => [account, gpus]))
  const unfair = names.flatMap((name) => {
    const fair = (all * weightOf(name)) / weights
    const part = parts.get(name) ?? 0
    return Math.abs(part - fair) <= Math.max(fair * within, ...sizes) ? [] : [`${name} has ${part} of ${fair}`]
  })
  expect(unfair).toEqual([])
})
