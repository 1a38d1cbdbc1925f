import { countJobs } from '../../features/jobs/rows/count-jobs.ts'
import type { ScopeName } from '../../features/policies/quota-texts.ts'
import {
  FindUsersDocument,
  type JobFilter,
  type QuotaType,
  TeamNamesDocument,
  type UserLevel,
} from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { serverNowMs } from '../../ground/server-clock.ts'

interface Limited {
  type: QuotaType
  scope: ScopeName
}

const hourMs = 3_600_000
const windowHours: Readonly<Partial<Record<QuotaType, number>>> = { JOBS_PER_HOUR: 1, JOBS_PER_DAY: 24 }
const usersMax = 100

/** Returns a filter for the jobs that a quota counts; null: it does not count jobs. */
function toFilter(type: QuotaType): JobFilter | null {
  if (type === 'CONCURRENT_JOBS') return {}
  const hours = windowHours[type]
  if (hours === undefined) return null
  const createdAfter = new Date(serverNowMs() - hours * hourMs).toISOString()
  return { createdAfter, stateCategories: ['WAITING', 'ACTIVE', 'FINAL'] }
}

/**
 * Counts the existing jobs under a quota by user, team or account; null: cannot be counted. The server may count more,
 * because deleted jobs and reserved slots count too.
 */
export async function readQuotaUse(quota: Limited, signal: AbortSignal): Promise<ReadonlyMap<string, number> | null> {
  const filter = toFilter(quota.type)
  if (!filter) return null
  const { kind, name } = quota.scope
  if (kind === 'ACCOUNT') return readAccountUse(name ?? '', filter, signal)
  if (kind === 'TEAM') return readTeamUse(name ?? '', filter, signal)
  return readUserUse(quota.scope, filter, signal)
}

async function readAccountUse(account: string, filter: JobFilter, signal: AbortSignal) {
  const counts = await countJobs('ACCOUNT', filter, signal)
  const below = [...counts].filter(([key]) => key === account || key.startsWith(`${account}.`))
  return new Map([[account, below.reduce((sum, [, { total }]) => sum + total, 0)]])
}

async function readTeamUse(name: string, filter: JobFilter, signal: AbortSignal) {
  const { teams } = await client.request(TeamNamesDocument, {}, { signal })
  const id = teams.nodes.find((each) => each.name === name)?.id
  if (id === undefined) return null
  const counts = await countJobs('TEAM', { ...filter, teams: [id] }, signal)
  return new Map([[name, counts.get(id)?.total ?? 0]])
}

async function readUserUse({ kind, name: given }: ScopeName, filter: JobFilter, signal: AbortSignal) {
  const wanted = {
    ...(kind === 'LEVEL' && { levels: [given as UserLevel] }),
    ...(kind === 'USER' && { text: given }),
  }
  const { users } = await client.request(FindUsersDocument, { filter: wanted, first: usersMax }, { signal })
  const found = users.nodes.filter(({ name }) => kind !== 'USER' || name === given)
  if (found.length === 0) return null
  const counts = await countJobs('USER', { ...filter, users: found.map(({ id }) => id) }, signal)
  return new Map(found.map(({ id, name }) => [name, counts.get(id)?.total ?? 0]))
}
