/** Prefixes of ids. Pool and queue ids contain the name; event ids are `event_<job without prefix>_<seq>`. */
const types = {
  job: 'Job',
  run: 'Run',
  event: 'JobEvent',
  artifact: 'Artifact',
  session: 'JobSession',
  snapshot: 'Snapshot',
  user: 'User',
  team: 'Team',
  token: 'ApiToken',
  pool: 'Pool',
  node: 'PoolNode',
  gpu: 'Gpu',
  hold: 'Hold',
  queue: 'SubmissionQueue',
  slot: 'SlotReservation',
  quota: 'Quota',
  approval: 'Approval',
  rule: 'ApprovalRule',
  audit: 'AuditEntry',
  reservation: 'CapacityReservation',
  view: 'SavedView',
  secret: 'Secret',
  limits: 'Limits',
  viewer: 'Viewer',
  system: 'System',
  server: 'ServerInfo',
  workload: 'Workload',
  webhook: 'Webhook',
  msg: 'WebhookDelivery',
} as const

type Prefix = keyof typeof types
export type NodeType = (typeof types)[Prefix]

/** Returns the GraphQL type of an id; unknown ids count as jobs, which are then not found. */
export function parseType(id: string): NodeType {
  const [prefix = ''] = id.split('_', 1)
  return Object.hasOwn(types, prefix) ? types[prefix as Prefix] : 'Job'
}

export const poolId = (name: string) => `pool_${name}`
export const webhookId = (name: string) => `webhook_${name}`
export const queueId = (name: string) => `queue_${name}`

/** Ids of objects that belong to a pool or a user. */
export const partId = (part: 'workload' | 'limits' | 'viewer', of: string) => `${part}_${of}`
export const parseName = (id: string) => id.slice(id.indexOf('_') + 1)

export interface EventKey {
  jobId: string
  seq: number
}

export const eventId = ({ jobId, seq }: { jobId: string; seq: number | bigint }) =>
  `event_${jobId.slice('job_'.length)}_${seq}`

export function parseEventId(id: string): EventKey | null {
  const [, job, seq] = /^event_([0-9a-z]{26})_(\d{1,15})$/.exec(id) ?? []
  return job === undefined ? null : { jobId: `job_${job}`, seq: Number(seq) }
}
