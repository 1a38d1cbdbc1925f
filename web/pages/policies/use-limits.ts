import { countJobs, type JobNumbers } from '../../features/jobs/rows/count-jobs.ts'
import { useJobChanges } from '../../features/jobs/rows/use-job-changes.ts'
import type { LimitUse } from '../../features/policies/limit-effects.ts'
import {
  FindUsersDocument,
  PoolLimitsNowDocument,
  type PoolLimitsNowQuery,
  TeamNamesDocument,
} from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { useResource } from '../../ground/resource.ts'

const pauseMs = 5_000

type Pool = NonNullable<PoolLimitsNowQuery['pool']>

export type PoolLimitsNow = Pool['limits'] & { pool: Pool }

/** Reads the limits of a pool; null: the pool does not exist. */
export async function readLimits(pool: string, signal?: AbortSignal): Promise<PoolLimitsNow | null> {
  const { pool: found } = await client.request(PoolLimitsNowDocument, { pool }, signal ? { signal } : {})
  return found && { ...found.limits, pool: found }
}

async function readUse({ name, workload, used }: Pool, signal: AbortSignal): Promise<LimitUse> {
  const filter = { pools: [name] }
  const [users, teams, userNames, teamNames] = await Promise.all([
    countJobs('USER', filter, signal),
    countJobs('TEAM', filter, signal),
    client.request(FindUsersDocument, { first: 100 }, { signal }),
    client.request(TeamNamesDocument, {}, { signal }),
  ])
  const names = new Map([...userNames.users.nodes, ...teamNames.teams.nodes].map((each) => [each.id, each.name]))
  const pick = (counts: ReadonlyMap<string, JobNumbers>, choose: (numbers: JobNumbers) => number) =>
    new Map([...counts].filter(([id]) => id !== '').map(([id, each]) => [names.get(id) ?? id, choose(each)]))
  return {
    running: workload.running,
    waiting: workload.depth + workload.blocked,
    gpus: used.gpu,
    runningByUser: pick(users, ({ active }) => active),
    runningByTeam: pick(teams, ({ active }) => active),
    unfinishedByUser: pick(users, ({ active, waiting }) => active + waiting),
    blockedByUser: pick(users, ({ blocked }) => blocked),
  }
}

/** Reads the limits of a pool, and their current use. */
export function useLimits(pool: string | undefined) {
  return useResource(
    `limits ${pool}`,
    async (signal): Promise<{ limits: PoolLimitsNow; use: LimitUse } | null> => {
      const limits = await readLimits(pool ?? '', signal)
      return limits && { limits, use: await readUse(limits.pool, signal) }
    },
    { version: useJobChanges(), pauseMs, isOff: pool === undefined },
  )
}
