import { InvalidInput } from '../errors.ts'
import { executorDefault, findTraits, listExecutorsWhere } from '../executors.ts'
import type { SpecInput } from '../input.ts'
import type { Policy } from '../lanes.ts'
import type { Destination } from './destinations.ts'
import { listExecutorViolations, usesField } from './executor-violations.ts'

export interface Route {
  queue: string
  pool: string
  policy: Policy
  executor: string
}

export function routeSpec(spec: SpecInput, destinations: readonly Destination[]): Route {
  const destination = findDestination(spec, destinations)
  const executor = spec.executor ?? choosePreferredExecutor(spec, destination)
  if (!destination.executors.includes(executor))
    throw InvalidInput.at(
      'spec.executor',
      `Queue ${destination.queue} has no executor ${executor}; use one of ${destination.executors.join(', ')}`,
    )
  const violations = listExecutorViolations(spec, destination, executor)
  if (violations.length > 0) throw new InvalidInput(violations)
  return { queue: destination.queue, pool: destination.pool, policy: destination.policy, executor }
}

function findDestination(spec: SpecInput, destinations: readonly Destination[]): Destination {
  const { queue, executor } = spec
  const destination = queue
    ? destinations.find((candidate) => candidate.queue === queue)
    : destinations.find((candidate) => !executor || candidate.executors.includes(executor))
  if (destination) return destination
  if (queue)
    throw InvalidInput.at(
      'spec.queue',
      `Queue ${queue} does not exist; use one of ${destinations.map((each) => each.queue).join(', ')}`,
    )
  const known = [...new Set(destinations.flatMap((each) => each.executors))]
  throw InvalidInput.at('spec.executor', `No queue leads to executor ${executor}; use one of ${known.join(', ')}`)
}

/** Returns the executor that a field of the spec prefers, else the first one of the pool. */
function choosePreferredExecutor(spec: SpecInput, destination: Destination): string {
  const wanted = listExecutorsWhere(({ preferredFor }) => preferredFor !== null && usesField(spec, preferredFor.field))
  const always = wanted.find((name) => findTraits(name).preferredFor?.when === 'ALWAYS')
  const [first = executorDefault] = destination.executors
  return always ?? wanted.find((name) => destination.executors.includes(name)) ?? first
}
