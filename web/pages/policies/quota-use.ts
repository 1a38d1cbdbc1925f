import { client } from '../../app/connection.ts'
import { serverNowMs } from '../../app/server-clock.ts'
import {
  FindUsersDocument,
  type JobFilter,
  type QuotaItemFragment,
  type QuotaType,
  TeamNamesDocument,
  type UserLevel,
} from '../../generated/graphql.ts'
import { countJobs } from '../../rows/count-jobs.ts'

type Limited = Pick<QuotaItemFragment, 'type' | 'scope' | 'key'>

const hourMs = 3_600_000
const windowHours: Readonly<Partial<Record<QuotaType, number>>> = { JOBS_PER_HOUR: 1, JOBS_PER_DAY: 24 }
const usersMax = 100

/** The jobs that a quota counts; null: it counts no jobs. */
function toFilter(type: QuotaType): JobFilter | null {
  if (type === 'CONCURRENT_JOBS') return {}
  const hours = windowHours[type]
  if (hours === undefined) return null
  const createdAfter = new Date(serverNowMs() - hours * hourMs).toISOString()
  return { createdAfter, stateCategories: ['WAITING', 'ACTIVE', 'FINAL'] }
}

/**
 * The use of a quota by user, team or account, by the jobs that exist; null: not known. Deleted jobs and reserved slots
 * count too, so the server may count more.
 */
export async function readQuotaUse(quota: Limited, signal: AbortSignal): Promise<ReadonlyMap<string, number> | null> {
  const filter = toFilter(quota.type)
  if (!filter) return null
  if (quota.scope === 'ACCOUNT') return readAccountUse(quota.key ?? '', filter, signal)
  if (quota.scope === 'TEAM') return readTeamUse(quota.key ?? '', filter, signal)
  return readUserUse(quota, filter, signal)
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

async function readUserUse({ scope, key }: Limited, filter: JobFilter, signal: AbortSignal) {
  const wanted = {
    ...(scope === 'LEVEL' && { levels: [key as UserLevel] }),
    ...(scope === 'USER' && { text: key }),
  }
  const { users } = await client.request(FindUsersDocument, { filter: wanted, first: usersMax }, { signal })
  const found = users.nodes.filter(({ name }) => scope !== 'USER' || name === key)
  if (found.length === 0) return null
  const counts = await countJobs('USER', { ...filter, users: found.map(({ id }) => id) }, signal)
  return new Map(found.map(({ id, name }) => [name, counts.get(id)?.total ?? 0]))
}
