import type { ListedApprovalFragment } from '../../generated/graphql.ts'

export type ApprovalRow = ListedApprovalFragment

const hourSeconds = 3_600

/** Computes the maximum cost of the job by the rates of its pool; null: unbounded, or the console cannot compute it. */
export function computeCostMax({ job }: ApprovalRow): { amount: number; currency: string } | null {
  const { pool, resources, maxRunTimeSeconds, maxAttempts, estimatedCost } = job
  const { rates } = pool
  const isSimple =
    resources !== null && !resources.exclusiveNodeUse && (resources.processCount ?? resources.nodeCount) === null
  if (!rates || !isSimple || !maxRunTimeSeconds) return null
  const perHour = (resources.cpu * rates.cpuHour + resources.gpu * rates.gpuHour) * resources.replicas
  const price = (perHour * maxRunTimeSeconds * maxAttempts) / hourSeconds
  return { amount: Math.max(price, estimatedCost ?? 0), currency: rates.currency }
}

export const countGpus = ({ job }: ApprovalRow): number => (job.resources?.gpu ?? 0) * (job.resources?.replicas ?? 1)

const verbs: Readonly<Record<ApprovalRow['status'], string>> = {
  PENDING: 'waits',
  APPROVED: 'approved this',
  REJECTED: 'rejected this',
  EXPIRED: 'expired',
  CANCELLED: 'cancelled the job',
}

/** "ben approved this"; if no user decided, "expired". */
export function describeDecision({ status, decidedBy }: ApprovalRow, viewerId: string): string {
  if (!decidedBy) return verbs[status]
  return `${decidedBy.id === viewerId ? 'You' : decidedBy.name} ${verbs[status]}`
}

/** Adds to `rows` the requests that have just been decided, at their former places. */
export function addDepartedRows(
  rows: readonly ApprovalRow[],
  departures: ReadonlyMap<string, ApprovalRow>,
): readonly ApprovalRow[] {
  const kept = rows.map((row) => departures.get(row.id) ?? row)
  const known = new Set(rows.map(({ id }) => id))
  const gone = [...departures.values()].filter(({ id }) => !known.has(id))
  return gone.length === 0
    ? kept
    : [...kept, ...gone].toSorted(
        (a, b) => Date.parse(a.requestedAt) - Date.parse(b.requestedAt) || (a.id < b.id ? -1 : 1),
      )
}
