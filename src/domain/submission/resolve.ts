import { findRootAccount, toShareAccount } from '../accounts.ts'
import { computeExpectedCost } from '../cost.ts'
import { InvalidInput, Rejected, type Violation } from '../errors.ts'
import { findTraits, isDelegated } from '../executors.ts'
import { newId } from '../ids.ts'
import type { SubmissionInput } from '../input.ts'
import { listDnsNameViolations } from '../internal-dns.ts'
import { listDependencyViolations, type NamedJob } from '../jobs/dependencies.ts'
import type { Payer } from '../limits/quota-rules.ts'
import { type Amounts, computeAmounts } from '../limits/quota-types.ts'
import { computeMaximumUse } from '../machines/occupied.ts'
import { couldEverFit, type FreeNode } from '../machines/placement.ts'
import { type NamedReservation, resolveReservation } from '../machines/reservations.ts'
import { type Memberships, noMemberships, resolveAccount, resolveTeam } from '../people/teams.ts'
import { listUnixUserViolations, type UnixUsers } from '../people/unix-users.ts'
import { explainAloneOverPart, type FitSubject } from '../queue/fit.ts'
import { makeUnsatisfiableReason, type Reason } from '../reason.ts'
import { makeUsableKey } from '../secrets/run-secrets.ts'
import { describeShape, listOversizedAmounts, toShape } from '../shape.ts'
import { type KnownSnapshot, snapshotViolations } from '../snapshots/named.ts'
import type { Destination } from './destinations.ts'
import type { NewJob } from './insert.ts'
import { makeKeyName, type StoredKey } from './keys.ts'
import { normaliseSpec } from './normalise.ts'
import { listReportWarnings } from './reported.ts'
import { routeSpec } from './routing.ts'
import type { Submission } from './submission.ts'

/** A resolved submission with the amounts that it will use. */
export interface Placed {
  job: Omit<NewJob, 'slotId' | 'approval'>
  warnings: string[]
  payer: Payer
  takes: Amounts
  /** true: the cost has no upper bound, and only the known part counts. */
  isUnbounded: boolean
  /** The currency of the cost; null: the pool has no prices. */
  currency: string | null
  /** Nodes of the capacity reservation; null: no reservation. */
  reservedNodes: readonly string[] | null
}

export interface SubmissionFacts {
  destinations: readonly Destination[]
  named: ReadonlyMap<string, NamedJob>
  snapshots: ReadonlyMap<string, KnownSnapshot>
  memberships: ReadonlyMap<string, Memberships>
  keys: ReadonlyMap<string, StoredKey>
  reservations: ReadonlyMap<string, NamedReservation>
  /** Accounts of teams that a viewer who is not a member may charge. */
  roots: readonly string[]
  unixUsers: UnixUsers
  /** Secrets that the submitters may use (`makeUsableKey`). */
  secrets: ReadonlySet<string>
}

export function resolvePayer(
  { viewer: { userId, userName, level }, input: { spec } }: Submission,
  { memberships: all }: Pick<SubmissionFacts, 'memberships'>,
): Payer {
  const memberships = all.get(userId) ?? noMemberships
  const team = resolveTeam(spec.team, memberships)
  const account = resolveAccount({ asked: spec.account, viewer: { userName, level }, memberships, team })
  return { userId, userName, level, team, account }
}

/** Throws InvalidInput. In a pool that refuses jobs that can never run, also throws Rejected. */
export function resolveSubmission(submission: Submission, facts: SubmissionFacts, nowMs: number): Placed {
  const { viewer, input, key, retryOf } = submission
  const way = routeSpec(input.spec, facts.destinations)
  const destination = facts.destinations.find(({ queue }) => queue === way.queue)
  const memberships = facts.memberships.get(viewer.userId) ?? noMemberships
  const payer = resolvePayer(submission, facts)
  const { team, account } = payer
  const root = findRootAccount(account, [...memberships.teams.map((each) => each.root), ...facts.roots])
  const unixUser = facts.unixUsers.get(viewer.userId) ?? null
  const violations = [
    ...listDependencyViolations(input.spec, facts.named, viewer),
    ...secretViolations(input, payer, facts),
    ...snapshotViolations(input, facts.snapshots, viewer),
    ...(destination
      ? listUnixUserViolations({ destination, executor: way.executor, userName: viewer.userName, unixUser })
      : []),
  ]
  if (violations.length > 0) throw new InvalidInput(violations)
  const asked = { ...input.spec, team: team?.name, workdir: chooseWorkdir(input, way.executor) }
  const { spec, warnings: changes } = normaliseSpec(asked, { route: way, account, destination })
  const warnings = [...changes, ...listReportWarnings(input.spec, destination?.reports[way.executor], way)]
  const shape = toShape(spec.resources)
  const oversized = [...listOversizedAmounts(shape), ...listDnsNameViolations(spec)]
  if (oversized.length > 0) throw new InvalidInput(oversized)
  const reservationId = spec.capacityReservationId
  const reservation =
    reservationId === null
      ? null
      : resolveReservation({ id: reservationId, project: spec.project, pool: way.pool }, facts.reservations)
  const nodes = nodesFor(destination, reservation)
  const obstacle = lastingObstacle({ shape, ...spec }, nodes, destination, reservation)
  if (obstacle?.code === 'UNSATISFIABLE' && destination?.refuses) throw new Rejected([obstacle])
  const most = computeMaximumUse(shape, nodes)
  const { cost, isUnbounded } = computeExpectedCost(spec, destination?.rates ?? null, most)
  const job = {
    id: newId('job', nowMs),
    runId: newId('run', nowMs),
    viewer,
    pool: way.pool,
    policy: way.policy,
    shareAccount: toShareAccount(account, root, destination?.weights ?? {}),
    spec,
    cost,
    teamId: team?.id ?? null,
    key,
    replacedKey: (key && facts.keys.get(makeKeyName(viewer.userId, key.key))) ?? null,
    retryOf,
    opensMs: reservation?.startsMs ?? null,
    gpuMost: shape.exclusive ? most.gpu : null,
  }
  return {
    job,
    warnings: obstacle ? [...warnings, `${obstacle.message}; the job waits until the pool changes`] : warnings,
    payer,
    takes: computeAmounts({ cost, gpu: most.gpu }, destination?.executors ?? []),
    isUnbounded,
    currency: currencyOf(destination),
    reservedNodes: reservation?.nodes ?? null,
  }
}

/** Reports a secret of another user or team as not found. */
function secretViolations(
  { spec }: SubmissionInput,
  { userId, team }: Payer,
  { secrets: usable }: SubmissionFacts,
): Violation[] {
  const owners = team ? `Neither you nor the team ${team.name} has` : 'You have'
  return (spec.secrets ?? []).flatMap((name, index) =>
    usable.has(makeUsableKey(userId, null, name)) || (team && usable.has(makeUsableKey(userId, team.id, name)))
      ? []
      : [{ path: ['spec', 'secrets', String(index)], message: `${owners} ${team ? 'a' : 'no'} secret ${name}` }],
  )
}

const currencyOf = (destination: Pick<Destination, 'rates'> | undefined) => destination?.rates?.currency ?? null

/**
 * The default working directory without a snapshot: the caller's directory where the executor can use it. A container
 * cannot; it starts in the directory of its image.
 */
const chooseWorkdir = ({ spec, defaultWorkdir }: SubmissionInput, executor: string) =>
  spec.workdir ?? (findTraits(executor).sharesFiles && spec.snapshot == null ? defaultWorkdir : null)

/** Returns the same array for the same destination, because facts about the array are cached. */
function nodesFor(destination: Destination | undefined, reservation: NamedReservation | null): readonly FreeNode[] {
  const nodes = destination?.nodes ?? []
  return reservation ? nodes.filter(({ name }) => reservation.nodes.includes(name)) : nodes
}

/** Returns why the job could not even start on empty machines; null: it could start. */
function lastingObstacle(
  job: Pick<FitSubject, 'shape' | 'interactive' | 'preemptable'>,
  nodes: readonly FreeNode[],
  destination: Destination | undefined,
  reservation: NamedReservation | null,
): Reason | null {
  // A delegated pool without nodes: the backend has not reported them yet.
  if (!destination || (destination.nodes.length === 0 && isDelegated(destination.executors))) return null
  if (!couldEverFit(job.shape, nodes)) return makeUnsatisfiableReason(describeShape(job.shape), reservation?.id ?? null)
  return explainAloneOverPart(job, destination.nodes, nodes, destination.part)
}
