import { combineReads } from '../../platform/combined-reads.ts'
import type { Sql } from '../../platform/tx.ts'
import {
  type ApprovalNeed,
  type ApprovalRule,
  decideApprovalNeed,
  makeNeedWithoutRule,
  readApprovalRules,
} from '../control/approval-rules.ts'
import type { Domain } from '../domain.ts'
import { Forbidden, InvalidState, orRefusal, QuotaExceeded, Refusal, ReservationExpired } from '../errors.ts'
import { readNamedJobs } from '../jobs/dependencies.ts'
import { type Limits, readLimits } from '../limits/limits.ts'
import {
  type ApplicableQuota,
  addDecimals,
  formatSubject,
  judgeQuotas,
  listApplicableQuotas,
  listSubjects,
  makeSubjectKey,
  makeUserSubject,
  type Payer,
  type QuotaRule,
  type Subject,
  withUnboundedCost,
} from '../limits/quota-rules.ts'
import type { Amounts } from '../limits/quota-types.ts'
import { addJob, noUsage, type Usage } from '../limits/quota-usage.ts'
import {
  type Comparison,
  readBlockedAmounts,
  readBoundedUsage,
  readStanding,
  type UsageCache,
} from '../limits/quota-usage-bound.ts'
import { readQuotasFor, refuseIfUnreadable } from '../limits/stored-quotas.ts'
import { listModelsFor } from '../machines/machines.ts'
import { type PoolHardware, readHardware } from '../machines/nodes.ts'
import { readReservations } from '../machines/reservations.ts'
import { readMemberships, readRoots } from '../people/teams.ts'
import { readUnixUsers } from '../people/unix-users.ts'
import { readDisabledUsers } from '../people/users.ts'
import { readUsableSecrets } from '../secrets/run-secrets.ts'
import { toShape } from '../shape.ts'
import { readNamedSnapshots } from '../snapshots/named.ts'
import { getMachineCache, readDestinations } from './destinations.ts'
import type { NewJob } from './insert.ts'
import { hashVersion, makeKeyName, matchKey, readKeys, type StoredKey } from './keys.ts'
import { type Placed, resolvePayer, resolveSubmission, type SubmissionFacts } from './resolve.ts'
import { isCheckedAtReservation, readOpenSlots } from './slots.ts'
import type { JobRow } from './stored-job.ts'
import type { Submission } from './submission.ts'

/**
 * Decides a group of submissions. A constant number of statements reads the facts; then the submissions are decided in
 * memory, in order of arrival, and each accepted one uses up its key, its slot and its part of a quota. The order of
 * the checks is part of the API: first the key, so that a repeated request gets its job even if the queue was removed
 * since; then resolve.ts; then slot, quotas and approval.
 */
export type SubmissionVerdict = Accepted | { hit: string } | { refusal: Refusal }

export interface Accepted {
  job: NewJob
  warnings: string[]
  /** Only in a preview: the effect on the applicable quotas. */
  quotas?: QuotaEffect[]
  /** Only in a preview: the expected cost; null: unknown or unbounded. */
  cost?: number | null
  /** Set once the job is written and queued. */
  stored?: JobRow | undefined
}

/** A quota before and after a submission. */
export interface QuotaEffect extends Pick<ApplicableQuota, 'type' | 'action' | 'limit'> {
  scope: string
  used: number
  /** null: the submission takes an unbounded amount. */
  usedAfter: number | null
}

interface GroupFacts extends SubmissionFacts {
  /** Users who were disabled after they logged in. */
  disabled: ReadonlySet<string>
  rules: readonly ApprovalRule[]
  /** Lists the quotas that apply to the payer in a pool whose userMaxActive is `maxActive`. */
  quotasFor: (payer: Payer, maxActive: number | null) => readonly ApplicableQuota[]
  limits: ReadonlyMap<string, Limits>
  /** Hardware of the destinations; read only if a rule depends on hardware. */
  hardware: readonly PoolHardware[]
  /** This and the next three fields change with every accepted job. */
  keys: Map<string, StoredKey>
  slots: Set<string>
  /** Existing retries of jobs, for submissions with `unlessRetried`. */
  retries: Set<string>
  usage: Map<string, Usage>
  isPreview: boolean
}

export interface Deciding {
  domain: Domain
  sql: Sql
  /** null: the caller does not hold the submission lock, so nothing may be cached. */
  memory: UsageCache | null
}

/** Call the returned function for each item, in order. The first items can be written while others are decided. */
export async function openGroup(
  deciding: Deciding,
  items: readonly Submission[],
): Promise<(item: Submission) => SubmissionVerdict> {
  const { domain, sql } = deciding
  const facts = await readFacts(domain, sql, items)
  const nowMs = domain.time.nowMs()
  // Outside `refuseIfUnreadable`: an error in one submission must not be reported as unreadable quotas, nor fail the others.
  const payers = listPayers(items, facts)
  await refuseIfUnreadable(domain, () => readQuotaFacts(deciding, facts, items, payers))
  return (item) => {
    const verdict = orRefusal(() => decide(item, facts, nowMs))
    return verdict instanceof Refusal ? { refusal: verdict } : verdict
  }
}

async function readQuotaFacts(
  { domain, sql, memory }: Deciding,
  facts: GroupFacts,
  items: readonly Submission[],
  payers: readonly Payer[],
): Promise<void> {
  const pools = new Set(facts.destinations.map(({ pool }) => pool))
  const reads = combineReads(sql)
  const mayBlock = facts.rules.length > 0 || items.some(({ input }) => input.requiresApproval)
  const asksHardware = facts.rules.some(({ condition }) => condition.hardware != null)
  const [rules, limits, standing, blocked, hardware] = await Promise.all([
    readQuotasFor(reads, payers),
    readLimits(reads, [...pools], domain.singleUser),
    readStanding(
      reads,
      payers.map(({ userId }) => userId),
    ),
    mayBlock ? readBlockedAmounts(reads) : null,
    asksHardware ? readHardware(reads, [...pools]) : [],
  ])
  facts.isPreview = memory === null
  facts.quotasFor = cacheQuotas(rules)
  facts.limits = limits
  facts.hardware = hardware
  const compared = payers.flatMap((payer) => listComparisons(payer, facts, mayBlock))
  facts.usage = await readBoundedUsage(sql, {
    compared,
    standing: { ...standing, blocked },
    coming: items.length,
    memory,
  })
}

/** The distinct payers. Ignores refusals, which are thrown again when the submission is decided. */
function listPayers(items: readonly Submission[], facts: GroupFacts): Payer[] {
  const payers = new Map<string, Payer>()
  for (const item of items) {
    const payer = matchStoredKey(item, facts.keys) ? null : orRefusal(() => resolvePayer(item, facts))
    if (payer && !(payer instanceof Refusal)) payers.set(payerKey(payer), payer)
  }
  return [...payers.values()]
}

/** Contains all fields that select quotas: the level of a user may change between two submissions of a group. */
const payerKey = ({ userId, userName, level, team, account }: Payer) =>
  [userId, userName, level, team?.id, account].join(' ')

function cacheQuotas(rules: readonly QuotaRule[]): GroupFacts['quotasFor'] {
  const known = new Map<string, readonly ApplicableQuota[]>()
  return (payer, maxActive) => {
    const name = `${payerKey(payer)} ${maxActive}`
    const quotas = known.get(name) ?? listApplicableQuotas(rules, payer, maxActive)
    known.set(name, quotas)
    return quotas
  }
}

async function readFacts(domain: Domain, sql: Sql, items: readonly Submission[]): Promise<GroupFacts> {
  // Uses a separate statement because it locks the jobs.
  const named = await readNamedJobs(
    sql,
    items.flatMap(({ input }) => (input.spec.dependsOn ?? []).map(({ jobId }) => jobId)),
  )
  const snapshots = await readNamedSnapshots(
    sql,
    items.flatMap(({ input }) => input.spec.snapshot ?? []),
  )
  const reads = combineReads(sql)
  const users = items.map(({ viewer }) => viewer.userId)
  const foreign = items.flatMap(({ viewer, input }) => (viewer.level === 'ADMIN' ? (input.spec.account ?? []) : []))
  const reservationIds = items.flatMap(({ input }) => input.spec.capacityReservationId ?? [])
  const secretNames = items.flatMap(({ input }) => input.spec.secrets ?? [])
  const [keys, destinations, memberships, unixUsers, disabled, rules, slots, retries, reservations, roots, secrets] =
    await refuseIfUnreadable(domain, () =>
      Promise.all([
        readKeys(reads, listKeys(items)),
        readDestinations(reads, getMachineCache(domain)),
        readMemberships(reads, users),
        readUnixUsers(reads, users),
        readDisabledUsers(reads, users),
        readApprovalRules(reads),
        readOpenSlots(reads, items),
        readRetries(reads, items),
        readReservations(reads, reservationIds),
        readRoots(reads, foreign),
        readUsableSecrets(reads, users, secretNames),
      ]),
    )
  return {
    keys,
    destinations,
    named,
    snapshots,
    memberships,
    unixUsers,
    disabled,
    rules,
    slots,
    retries,
    reservations,
    roots,
    secrets,
    quotasFor: () => [],
    limits: new Map(),
    hardware: [],
    usage: new Map(),
    isPreview: false,
  }
}

export const listKeys = (items: readonly Submission[]) =>
  items.flatMap(({ viewer: { userId }, key }) => (key ? [{ userId, key: key.key }] : []))

/** Returns the job of an earlier submission with the same key, or the conflict with its payload. */
export function matchStoredKey(
  { viewer, key }: Pick<Submission, 'viewer' | 'key'>,
  keys: ReadonlyMap<string, StoredKey>,
): { hit: string } | { refusal: Refusal } | undefined {
  const answer = key ? matchKey(keys.get(makeKeyName(viewer.userId, key.key)), key) : undefined
  if (answer === undefined) return undefined
  return typeof answer === 'string' ? { hit: answer } : { refusal: answer }
}

function listComparisons(payer: Payer, facts: GroupFacts, mayBlock: boolean): Comparison[] {
  const quotas = facts.destinations.flatMap(({ pool }) => facts.quotasFor(payer, userMaxActive(facts, pool)))
  const subject = makeUserSubject(payer)
  const asks = mayBlock || quotas.some(asksApproval)
  return [
    ...quotas,
    ...(asks ? [blockedJobs, ...facts.rules.flatMap(comparisonOfRule)].map((one) => ({ subject, ...one })) : []),
  ]
}

const userMaxActive = ({ limits }: GroupFacts, pool: string) => limits.get(pool)?.userMaxActive ?? null

const blockedJobs = { type: 'BLOCKED', limit: Number.POSITIVE_INFINITY } as const

const comparisonOfRule = ({ condition: { jobsPerDayAbove: limit } }: ApprovalRule) =>
  limit == null ? [] : [{ type: 'JOBS_PER_DAY' as const, limit }]

const asksApproval = ({ action }: ApplicableQuota) => action === 'REQUIRE_APPROVAL'

function decide(item: Submission, facts: GroupFacts, nowMs: number): SubmissionVerdict {
  const { viewer, key } = item
  const answered = matchStoredKey(item, facts.keys)
  if (answered) return answered
  if (facts.disabled.has(viewer.userId)) throw new Forbidden('job.submit')
  demandNotRetried(item, facts)
  const placed = resolveSubmission(item, facts, nowMs)
  const all = facts.quotasFor(placed.payer, userMaxActive(facts, placed.job.pool))
  const slotId = demandOpenSlot(item, facts)
  const isDefault = facts.destinations.find((destination) => destination.isDefault)?.pool === placed.job.pool
  const quotas = all.filter((quota) => slotId === null || !isCheckedAtReservation(quota, isDefault))
  const usedBy = (subject: Subject) => usedWithout(slotId, subject, facts)
  const takes = placed.isUnbounded ? withUnboundedCost(placed.takes) : placed.takes
  const { warnings, approvals } = judgeQuotas(quotas, usedBy, takes)
  const effects = facts.isPreview && {
    quotas: listEffects(quotas, usedBy, takes),
    cost: placed.isUnbounded ? null : placed.job.cost,
  }
  const approval = decideApproval(item, placed, approvals, facts)
  const job: NewJob = { ...placed.job, slotId, approval }
  facts.retries.add(retryName(viewer.userId, item.retryOf))
  if (slotId !== null) facts.slots.delete(`${viewer.userId}/${slotId}`)
  if (key)
    facts.keys.set(makeKeyName(viewer.userId, key.key), {
      ...key,
      userId: viewer.userId,
      hashVersion,
      jobId: job.id,
      live: true,
    })
  for (const subject of listSubjects(placed.payer)) addUsage(facts, makeSubjectKey(subject), job, placed)
  return { job, warnings: [...placed.warnings, ...warnings], ...effects }
}

function listEffects(
  quotas: readonly ApplicableQuota[],
  usedBy: (subject: Subject) => Amounts,
  takes: Amounts,
): QuotaEffect[] {
  return quotas.flatMap(({ type, action, limit, subject }) => {
    if (takes[type] === 0) return []
    const used = usedBy(subject)[type]
    const after = addDecimals(used, takes[type])
    return [
      { type, action, limit, scope: formatSubject(subject), used, usedAfter: Number.isFinite(after) ? after : null },
    ]
  })
}

/** Returns the usage without this submission, whose reserved slot already counts for its user. */
function usedWithout(slotId: string | null, subject: Subject, { usage }: GroupFacts): Amounts {
  const { amounts } = usage.get(makeSubjectKey(subject)) ?? noUsage
  if (slotId === null || subject.kind !== 'user') return amounts
  return { ...amounts, CONCURRENT_JOBS: amounts.CONCURRENT_JOBS - 1 }
}

const retryName = (userId: string, jobId: string | null) => `${userId}/${jobId}`

async function readRetries(sql: Sql, items: readonly Submission[]): Promise<Set<string>> {
  const asking = items.filter(({ input }) => input.unlessRetried)
  if (asking.length === 0) return new Set()
  const rows = await sql.query<{ userId: string; retryOf: string }>(
    `SELECT DISTINCT user_id AS "userId", retry_of_id AS "retryOf" FROM job
     WHERE retry_of_id = ANY($1::text[]) AND user_id = ANY($2::text[])`,
    [asking.map(({ retryOf }) => retryOf), [...new Set(asking.map(({ viewer }) => viewer.userId))]],
    'retries_of_jobs',
  )
  return new Set(rows.map(({ userId, retryOf }) => retryName(userId, retryOf)))
}

function demandNotRetried({ viewer, input, retryOf }: Submission, { retries }: GroupFacts): void {
  if (input.unlessRetried && retryOf !== null && retries.has(retryName(viewer.userId, retryOf)))
    throw new InvalidState('Another request of yours has retried the job meanwhile', retryOf)
}

/** The slot must be open, belong to the viewer, and not be taken by an earlier submission of the group. */
function demandOpenSlot(
  { viewer, input: { slotReservationId: id } }: Submission,
  { slots }: GroupFacts,
): string | null {
  if (id == null) return null
  if (!slots.has(`${viewer.userId}/${id}`)) throw new ReservationExpired(id)
  return id
}

/** Combines the approvals of rules, of the submitter, and of quotas (`approvals`). */
function decideApproval(
  { viewer, input }: Submission,
  placed: Placed,
  approvals: readonly string[],
  facts: GroupFacts,
): ApprovalNeed | null {
  const { spec, cost } = placed.job
  const hardware = facts.hardware.filter(({ pool, names }) => pool === placed.job.pool && mayRunOn(placed, names))
  const { amounts, known, blocked } = facts.usage.get(makeSubjectKey(makeUserSubject(placed.payer))) ?? noUsage
  const need =
    decideApprovalNeed(facts.rules, {
      level: viewer.level,
      name: spec.name,
      executor: spec.executor,
      cost: placed.isUnbounded ? Number.POSITIVE_INFINITY : cost,
      currency: placed.currency,
      hardware: listModelsFor(toShape(spec.resources), hardware),
      gpuModel: spec.resources.gpuModel,
      cpuModel: spec.resources.cpuModel,
      jobsLastDay: amounts.JOBS_PER_DAY,
      isFirstJob: !known,
    }) ??
    (approvals.length > 0 ? makeNeedWithoutRule(approvals.join('; ')) : null) ??
    (input.requiresApproval ? makeNeedWithoutRule('Requested by the submitter') : null)
  const limit = facts.limits.get(placed.job.pool)?.userMaxBlocked ?? null
  if (need && limit !== null && blocked >= limit)
    throw new QuotaExceeded(
      `Quota exceeded: Maximum ${limit} ${limit === 1 ? 'job' : 'jobs'} waiting for approval allowed`,
      {
        code: 'QUOTA_EXCEEDED',
        quota: 'MAX_BLOCKED',
        scope: formatSubject(makeUserSubject(placed.payer)),
        limit,
        used: blocked,
      },
    )
  return need
}

const mayRunOn = ({ reservedNodes }: Placed, names: readonly string[]) =>
  reservedNodes === null || names.some((name) => reservedNodes.includes(name))

function addUsage({ usage }: GroupFacts, subject: string, job: NewJob, { takes }: Placed): void {
  const before = usage.get(subject)
  if (!before) return
  const reserved = job.slotId !== null && subject.startsWith('user/')
  const taken = reserved ? { ...takes, CONCURRENT_JOBS: 0 } : takes
  usage.set(subject, addJob(before, taken, job.approval !== null))
}
