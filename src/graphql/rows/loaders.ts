import DataLoader from 'dataloader'
import { maySee, seesPeople, type Viewer, visibleTo } from '../../domain/access.ts'
import { readFactsOfFinalJobs } from '../../domain/control/allowed-actions.ts'
import { readApprovals } from '../../domain/control/approvals.ts'
import { readSessions, readSessionsOfJobs } from '../../domain/control/sessions.ts'
import type { Domain } from '../../domain/domain.ts'
import { type MetricPoint, readMetricPoints, readMetrics } from '../../domain/inside/metrics.ts'
import { ledSql } from '../../domain/leadership.ts'
import { readVisibleQuotas } from '../../domain/limits/stored-quotas.ts'
import { readStoredBytes } from '../../domain/snapshots/snapshots.ts'
import { maySeeSlot, readSlots } from '../../domain/submission/slots.ts'
import { type JobRow, readJob } from '../../domain/submission/stored-job.ts'
import { readSamples, type SamplePoint } from '../../domain/usage/run-samples.ts'
import { eventColumns, type FeedEvent, markEntry } from '../../feed/event.ts'
import { readLogEnds, readLogSizes } from '../../logs/stored.ts'
import type { Device, PoolNode, Run } from '../../platform/generated/client.ts'
import type { Sql } from '../../platform/tx.ts'
import { byId, byKey, byParent } from './batches.ts'
import { NestedList } from './connection.ts'
import { readGpuModels } from './gpu-models.ts'
import type { Bind } from './keyset.ts'
import {
  artifactsListing,
  deliveriesListings,
  dependentsListing,
  eventsListing,
  nodeRunsListing,
  parseParentJobId,
  poolNodesListing,
  runsListing,
  teamMembersListing,
} from './listings.ts'
import { parseEventId } from './typed-id.ts'
import { createWaitingLoaders } from './waiting-loaders.ts'

/**
 * Load rows in batches, so that a query needs a constant number of statements. A job that the viewer may not see is
 * null, like a missing one; resolvers reach the rows of a job only through the job. A set of loaders lives for one
 * request, or one event of a subscription.
 */

export type Loaders = ReturnType<typeof createLoaders>

export const createLoaders = (domain: Domain, viewer: Viewer, listSql: Sql) => ({
  ...createJobLoaders(domain, viewer, listSql),
  ...createWaitingLoaders(domain, viewer),
  ...createMachineLoaders(domain, viewer, listSql),
  ...createPeopleLoaders(domain, viewer, listSql),
  ...createRuleLoaders(domain, viewer),
})

const always = () => 'TRUE'

function createJobLoaders(domain: Domain, viewer: Viewer, listSql: Sql) {
  const { prisma } = domain.db
  const visible = (bind: Bind) => visibleTo(viewer, 'j', bind)
  const event = new DataLoader<string, FeedEvent | null>((ids) => readEvents(domain, ids))
  return {
    job: byId(async (ids) => {
      const jobs = await Promise.all(ids.map((id) => readJob(domain, id)))
      return jobs.flatMap((job) => (job && maySee(viewer, job) ? job : []))
    }),
    run: byId((ids) => prisma.run.findMany({ where: { id: { in: ids } } })),
    /** Keys are `<job>/<number>`. */
    runByNumber: byKey('key', async (keys) => {
      const runs = await prisma.run.findMany({ where: { OR: keys.map(parseRunKey) } })
      return runs.map((run) => ({ ...run, key: `${run.jobId}/${run.number}` }))
    }),
    event,
    /** Loads the mark of an event by its id; null: the event was deleted. */
    eventMark: {
      async load(id: string) {
        const row = await event.load(id)
        return row && markEntry(row)
      },
    },
    artifact: byId((ids) => prisma.artifact.findMany({ where: { id: { in: ids } }, omit: { hash: true } })),
    snapshot: byId((ids) =>
      prisma.snapshot.findMany({ where: { id: { in: ids } }, omit: { list: true, blobs: true, diff: true } }),
    ),
    snapshotDiff: byId((ids) =>
      prisma.snapshot.findMany({ where: { id: { in: ids } }, select: { id: true, diff: true } }),
    ),
    closure: byKey('jobId', (jobIds) => prisma.closure.findMany({ where: { jobId: { in: jobIds } } })),
    currentRun: new DataLoader<JobRow, Run, string>((jobs) => readCurrentRuns(domain, jobs), {
      cacheKeyFn: (job) => job.id,
    }),
    dependencies: byParent('jobId', (jobIds) =>
      prisma.dependency.findMany({ where: { jobId: { in: jobIds } }, orderBy: { position: 'asc' } }),
    ),
    logEnd: new DataLoader((jobIds: readonly string[]) => readLogEnds(domain.db.sql, jobIds)),
    logSize: new DataLoader((runIds: readonly string[]) => readLogSizes(domain.db.sql, runIds)),
    samplesOfRun: createPointsLoaders<SamplePoint>((runIds, points) => readSamples(domain.db.sql, runIds, points)),
    metricsOfRun: byParent('runId', (runIds) => readMetrics(domain.db.sql, runIds)),
    /** Keys are `<run> <name>`. */
    pointsOfMetric: createPointsLoaders<MetricPoint>(async (keys, points) => {
      const metrics = keys.map((key) => key.split(' ')).map(([runId = '', name = '']) => ({ runId, name }))
      const read = await readMetricPoints(domain.db.sql, metrics, points)
      return Map.groupBy(read, ({ runId, name }) => `${runId} ${name}`)
    }),
    runsOfJob: new NestedList(listSql, runsListing, always),
    eventsOfJob: new NestedList(listSql, eventsListing, always, parseParentJobId),
    artifactsOfJob: new NestedList(listSql, artifactsListing, always),
    dependents: new NestedList(listSql, dependentsListing, visible),
  }
}

function createPointsLoaders<Point>(
  read: (keys: readonly string[], points: number) => Promise<ReadonlyMap<string, Point[]>>,
) {
  const known = new Map<number, DataLoader<string, Point[]>>()
  return (points: number) => {
    const loader =
      known.get(points) ??
      new DataLoader<string, Point[]>(async (keys) => {
        const found = await read(keys, points)
        return keys.map((key) => found.get(key) ?? [])
      })
    known.set(points, loader)
    return loader
  }
}

function createMachineLoaders(domain: Domain, viewer: Viewer, listSql: Sql) {
  const { prisma, sql } = domain.db
  const visible = (bind: Bind) => visibleTo(viewer, 'j', bind)
  return {
    pool: byKey('name', (names) => prisma.pool.findMany({ where: { name: { in: names } } })),
    node: byId((ids) => prisma.poolNode.findMany({ where: { id: { in: ids } } })),
    submissionQueue: byKey('name', (names) => prisma.submissionQueue.findMany({ where: { name: { in: names } } })),
    devices: byParent('nodeId', (nodeIds) =>
      prisma.device.findMany({ where: { nodeId: { in: nodeIds } }, orderBy: { index: 'asc' } }),
    ),
    held: byParent('nodeId', (nodeIds) => sql.query<HeldDevice>(heldDevicesSql, [nodeIds], 'held_devices')),
    allocations: byParent('runId', (runIds) =>
      prisma.allocation.findMany({ where: { runId: { in: runIds } }, orderBy: { replica: 'asc' } }),
    ),
    /** Keys come from `keyOfNode`. */
    nodeByName: byKey('key', async (keys) => {
      const nodes = await prisma.poolNode.findMany({ where: { OR: groupByPool(keys) } })
      return nodes.map((node) => ({ ...node, key: keyOfNode(node.poolName, node.name) }))
    }),
    claimsOfRun: byParent('runId', (runIds) =>
      prisma.deviceClaim.findMany({ where: { runId: { in: runIds } }, orderBy: { index: 'asc' } }),
    ),
    poolCapacity: new DataLoader<string, PoolCapacity>((names) => readPoolCapacities(domain, names)),
    gpuModelsOfPool: byParent('pool', (pools) => readGpuModels(sql, viewer, pools)),
    leader: new DataLoader<string, Leader | null>((names) => readLeaders(domain, names)),
    delivery: byId((ids) => prisma.webhookDelivery.findMany({ where: { id: { in: ids } } })),
    deliveriesOfWebhook: {
      PENDING: new NestedList(listSql, deliveriesListings.PENDING, always),
      DELIVERED: new NestedList(listSql, deliveriesListings.DELIVERED, always),
      DEAD: new NestedList(listSql, deliveriesListings.DEAD, always),
    },
    capacityReservation: byId((ids) => prisma.capacityReservation.findMany({ where: { id: { in: ids } } })),
    nodesOfPool: new NestedList(listSql, poolNodesListing, always),
    runsOnNode: new NestedList(listSql, nodeRunsListing, visible),
  }
}

const parseRunKey = (key: string) => {
  const [jobId = '', number] = key.split('/')
  return { jobId, number: Number(number) }
}

/** Names of pools contain no slash. */
const keyOfNode = (pool: string, name: string) => `${pool}/${name}`

function groupByPool(keys: readonly string[]) {
  const pools = Map.groupBy(keys, (key) => key.slice(0, key.indexOf('/')))
  return [...pools].map(([poolName, of]) => ({
    poolName,
    name: { in: of.map((key) => key.slice(poolName.length + 1)) },
  }))
}

/** Loads the nodes with these names, without those that do not exist. */
export async function loadNodes({ nodeByName }: Loaders, pool: string, names: readonly string[]): Promise<PoolNode[]> {
  const nodes = await Promise.all(names.map((name) => nodeByName.load(keyOfNode(pool, name))))
  return nodes.filter((node) => node !== null)
}

/** Loads GPUs by their ids; null: the GPU does not exist. */
export const loadGpus = ({ devices }: Loaders, ids: readonly string[]): Promise<(Device | null)[]> =>
  Promise.all(
    ids.map(async (id) => {
      const [, nodeId, index] = /^gpu_(.+)_(\d{1,4})$/.exec(id) ?? []
      if (nodeId === undefined) return null
      return (await devices.load(nodeId)).find((each) => each.index === Number(index)) ?? null
    }),
  )

function createPeopleLoaders(domain: Domain, viewer: Viewer, listSql: Sql) {
  const { prisma, sql } = domain.db
  return {
    user: byId((ids) => prisma.user.findMany({ where: { id: { in: ids } } })),
    userByName: byKey('name', (names) => prisma.user.findMany({ where: { name: { in: names } } })),
    team: byId((ids) => prisma.team.findMany({ where: { id: { in: ids } } })),
    teamByName: byKey('name', (names) => prisma.team.findMany({ where: { name: { in: names } } })),
    savedView: byId((ids) => prisma.savedView.findMany({ where: { id: { in: ids } } })),
    secret: byId((ids) => prisma.secret.findMany({ where: { id: { in: ids } }, omit: { data: true } })),
    token: byId((ids) => prisma.apiToken.findMany({ where: { id: { in: ids } }, omit: { hash: true } })),
    storedBytes: byKey('userId', (userIds) => readStoredBytes(sql, userIds)),
    teamsOfUser: byParent('userId', (userIds) =>
      prisma.teamMember.findMany({
        where: { userId: { in: userIds } },
        include: { team: true },
        orderBy: { team: { name: 'asc' } },
      }),
    ),
    membersOfTeam: new NestedList(listSql, teamMembersListing, (bind) => visibleMembers(viewer, bind)),
  }
}

function createRuleLoaders(domain: Domain, viewer: Viewer) {
  const { prisma, sql } = domain.db
  return {
    session: byId((ids) => readSessions(sql, ids)),
    sessionsOfJob: byParent('jobId', (jobIds) => readSessionsOfJobs(sql, jobIds)),
    slot: byId(async (ids) => (await readSlots(sql, ids)).filter((slot) => maySeeSlot(viewer, slot))),
    quota: byId((ids) => readVisibleQuotas(sql, viewer, ids)),
    approval: byId((ids) => readApprovals(sql, 'id', ids)),
    approvalOfJob: byKey('jobId', (jobIds) => readApprovals(sql, 'job_id', jobIds)),
    leftOfJob: byKey('jobId', (jobIds) => readFactsOfFinalJobs(sql, jobIds)),
    approvalRule: byId((ids) => prisma.approvalRule.findMany({ where: { id: { in: ids } } })),
    approvalRuleByName: byKey('name', (names) => prisma.approvalRule.findMany({ where: { name: { in: names } } })),
    auditEntry: byId((ids) => prisma.auditEntry.findMany({ where: { id: { in: ids }, seq: { not: null } } })),
  }
}

/** Returns a condition on team members: viewers without access to other users see only members of their own teams. */
function visibleMembers(viewer: Viewer, bind: (value: unknown) => string): string {
  return seesPeople(viewer)
    ? 'TRUE'
    : `EXISTS (SELECT FROM team_member own WHERE own.team_id = m.team_id AND own.user_id = ${bind(viewer.userId)})`
}

/** Uses SQL, because Prisma would build one OR per two-part key. */
async function readEvents({ db }: Domain, ids: readonly string[]): Promise<(FeedEvent | null)[]> {
  const keys = ids.map(parseEventId)
  const wanted = keys.filter((key) => key !== null)
  const rows = await db.sql.query<FeedEvent>(
    `SELECT ${eventColumns}
     FROM unnest($1::text[], $2::bigint[]) AS k(job_id, seq) JOIN event e ON e.job_id = k.job_id AND e.seq = k.seq`,
    [wanted.map(({ jobId }) => jobId), wanted.map(({ seq }) => seq)],
  )
  const found = new Map(rows.map((row) => [`${row.jobId}/${row.seq}`, row]))
  return keys.map((key) => (key && found.get(`${key.jobId}/${key.seq}`)) ?? null)
}

async function readCurrentRuns({ db }: Domain, jobs: readonly JobRow[]): Promise<(Run | Error)[]> {
  const ids = await db.sql.query<{ id: string }>(
    `SELECT r.id FROM unnest($1::text[]) AS j(id)
     CROSS JOIN LATERAL (SELECT id FROM run WHERE job_id = j.id ORDER BY number DESC LIMIT 1) r`,
    [jobs.map((job) => job.id)],
  )
  const runs = await db.prisma.run.findMany({ where: { id: { in: ids.map(({ id }) => id) } } })
  const byJob = new Map(runs.map((run) => [run.jobId, run]))
  return jobs.map((job) => byJob.get(job.id) ?? new Error(`The job ${job.id} was deleted meanwhile`))
}

interface HeldDevice {
  nodeId: string
  index: number
  runId: string
}

const heldDevicesSql =
  'SELECT node_id AS "nodeId", device AS index, run_id AS "runId" FROM held_device WHERE node_id = ANY($1::text[])'

interface PoolCapacity {
  capacity: { cpuMillis: number; memoryBytes: number; gpu: number }
  used: { cpuMillis: number; memoryBytes: number; gpu: number }
}

async function readPoolCapacities({ db }: Domain, pools: readonly string[]): Promise<PoolCapacity[]> {
  const rows = await db.sql.query<Record<'cpu' | 'memory' | 'gpu' | 'usedCpu' | 'usedMemory' | 'usedGpu', number>>(
    `SELECT coalesce(sum(n.cpu_millis), 0)::bigint AS cpu, coalesce(sum(n.memory_bytes), 0)::bigint AS memory,
       coalesce(sum(n.cpu_millis - n.held_cpu_millis - n.free_cpu_millis), 0)::bigint AS "usedCpu",
       coalesce(sum(n.memory_bytes - n.held_memory_bytes - n.free_memory_bytes), 0)::bigint AS "usedMemory",
       coalesce(sum((SELECT count(*) FROM device d WHERE d.node_id = n.id)), 0)::bigint AS gpu,
       coalesce(sum((SELECT count(*) FROM held_device h WHERE h.node_id = n.id)), 0)::bigint AS "usedGpu"
     FROM unnest($1::text[]) WITH ORDINALITY AS p(name, place) LEFT JOIN node n ON n.pool = p.name
     GROUP BY p.place ORDER BY p.place`,
    [pools],
  )
  return rows.map(({ cpu, memory, gpu, usedCpu, usedMemory, usedGpu }) => ({
    capacity: { cpuMillis: cpu, memoryBytes: memory, gpu },
    used: { cpuMillis: usedCpu, memoryBytes: usedMemory, gpu: usedGpu },
  }))
}

interface Leader {
  holder: string
  host: string
  epoch: number
  renewedAt: Date
}

async function readLeaders({ db }: Domain, pools: readonly string[]): Promise<(Leader | null)[]> {
  const rows = await db.sql.query<Leader & { pool: string }>(
    `SELECT pool, leader.holder, coalesce(leader.host, '') AS host, leader.epoch, lease.renewed_at AS "renewedAt"
     FROM scheduler_leader leader JOIN scheduler_lease lease USING (pool) WHERE pool = ANY($1::text[]) AND ${ledSql}`,
    [pools],
  )
  const leaders = new Map(rows.map((row) => [row.pool, row]))
  return pools.map((pool) => leaders.get(pool) ?? null)
}
