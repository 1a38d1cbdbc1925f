import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ApiServers, startApiServers } from '../support/api-servers.ts'
import { mutate, personWith } from '../support/people.ts'
import { fillWithOldJobs } from './old-jobs.ts'
import { drive, type Tally } from './traffic.ts'

export interface Soak {
  /** An empty database, or a migrated one without jobs. */
  databaseUrl: string
  seconds: number
  clients: number
  oldJobs: number
}

const servers = 3
const people = 12

/** Mixed submissions over three API processes against many old jobs, with quotas and an approval rule. */
export async function soak({ databaseUrl, seconds, clients, oldJobs }: Soak): Promise<Tally> {
  const dataDir = await mkdtemp(join(tmpdir(), 'berth-soak-'))
  const apis = await startApiServers({ databaseUrl, dataDir, count: servers })
  try {
    const members = await Promise.all(Array.from({ length: people }, (_, n) => apis.addMember(`person${n}`)))
    const limited = await apis.addMember('limited')
    await makeRules(apis)
    await makeOldJob(apis, members[0]?.token ?? '')
    await fillWithOldJobs(databaseUrl, oldJobs)
    return await drive({ urls: apis.urls, members, limited, seconds, clients })
  } finally {
    await apis.end()
    await rm(dataDir, { recursive: true, force: true })
  }
}

async function makeRules({ admin }: ApiServers): Promise<void> {
  const plenty = { action: 'BLOCK', limit: 1e9 }
  for (const type of ['CONCURRENT_JOBS', 'JOBS_PER_HOUR', 'JOBS_PER_DAY', 'COST_PER_MONTH'])
    await mutate(admin, 'createQuota', { input: { type, ...plenty } })
  const none = { type: 'JOBS_PER_HOUR', action: 'BLOCK', scope: { user: { name: 'limited' } }, limit: 0 }
  await mutate(admin, 'createQuota', { input: none })
  await mutate(admin, 'createApprovalRule', { input: { name: 'expensive', condition: { costAbove: 50 } } })
  await mutate(admin, 'updateLimits', { input: { userMaxBlocked: null } })
}

/** The job of which the others are copies. */
async function makeOldJob({ urls }: ApiServers, token: string): Promise<void> {
  const person = personWith(urls[0] ?? '', token)
  const input = { spec: { command: ['true'] }, idempotencyKey: 'the first' }
  const { job } = await mutate(person, 'submitJob', { input, wanted: 'job { id }' })
  await mutate(person, 'cancelJob', { input: { jobId: job.id } })
}
