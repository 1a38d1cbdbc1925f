import { newId } from '../platform/ids.ts'
import { dependencyViolations, type NamedJob } from './dependencies.ts'
import { InvalidInput } from './errors.ts'
import type { NewJob } from './insert.ts'
import { keyName, type StoredKey } from './keys.ts'
import { normalise } from './normalise.ts'
import type { Amounts, Payer } from './quota-rules.ts'
import { type Door, route } from './routing.ts'
import { shapeOf, tooLarge } from './shape.ts'
import type { JobSpec } from './spec.ts'
import type { Submission } from './submission.ts'
import { accountFor, type Memberships, noMemberships, teamFor } from './teams.ts'

/** What a submission becomes: its pool, executor, team, account and normalised spec, and what it would take. */
export interface Placed {
  job: Omit<NewJob, 'slotId' | 'approval'>
  warnings: string[]
  payer: Payer
  takes: Amounts
}

export interface Places {
  doors: readonly Door[]
  named: ReadonlyMap<string, NamedJob>
  memberships: ReadonlyMap<string, Memberships>
  keys: ReadonlyMap<string, StoredKey>
}

/** Throws InvalidInput. */
export function place({ viewer, input, key, retryOf }: Submission, places: Places, nowMs: number): Placed {
  const way = route(input.spec, places.doors)
  const memberships = places.memberships.get(viewer.userId) ?? noMemberships
  const team = teamFor(input.spec.team, memberships)
  const account = accountFor({ asked: input.spec.account, viewer, memberships, team })
  const violations = [...references(input.spec), ...dependencyViolations(input.spec, places.named, viewer)]
  if (violations.length > 0) throw new InvalidInput(violations)
  const { spec, warnings } = normalise({ ...input.spec, team: team?.name }, way, account)
  const oversized = tooLarge(shapeOf(spec.resources))
  if (oversized.length > 0) throw new InvalidInput(oversized)
  const job = {
    id: newId('job', nowMs),
    runId: newId('run', nowMs),
    viewer,
    pool: way.pool,
    spec,
    teamId: team?.id ?? null,
    key,
    replacedKey: (key && places.keys.get(keyName(viewer.userId, key.key))) ?? null,
    retryOf,
  }
  const { userId, userName, level } = viewer
  const isLocal = places.doors.some(({ queue, executors }) => queue === way.queue && executors.includes('local'))
  return { job, warnings, payer: { userId, userName, level, team, account }, takes: takesOf(spec, isLocal) }
}

/** Capacity reservations that do not exist cannot be named. */
function references({ capacityReservationId: id }: Submission['input']['spec']) {
  const path = ['spec', 'capacityReservationId']
  return id ? [{ path, message: `There is no capacity reservation ${id}` }] : []
}

function takesOf({ estimatedCost, resources }: JobSpec, isLocal: boolean): Amounts {
  const { gpu, copies } = shapeOf(resources)
  const cost = estimatedCost ?? 0
  return {
    CONCURRENT_JOBS: 1,
    JOBS_PER_HOUR: 1,
    JOBS_PER_DAY: 1,
    COST_PER_DAY: cost,
    COST_PER_MONTH: cost,
    LOCAL_GPUS: isLocal ? gpu * copies : 0,
  }
}
