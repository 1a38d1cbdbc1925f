import { requireField } from '../../client/connection/failure.ts'
import { JobSpecDocument, type JobSpecInput, type SpecFieldsFragment } from '../../client/generated/graphql.ts'
import type { Cli } from '../frame/cli.ts'
import { unknownJob } from '../frame/exit.ts'

/** Converts stored specs to inputs, without fields that have their defaults. */

const defaults: Readonly<Record<string, unknown>> = {
  inheritEnvironment: true,
  launcher: 'single',
  onDependencyFailure: 'CANCEL',
  replicas: 1,
  gpu: 0,
}

export async function readSpec(cli: Cli, id: string): Promise<SpecFieldsFragment> {
  const { job } = await cli.connection().request(JobSpecDocument, { id }, { attempts: 2 })
  if (!job) throw unknownJob(id)
  return requireField(job.spec)
}

/** Converts a spec to an input. No time limit becomes 0, because a missing field would mean the default limit. */
export function toSpecInput(spec: SpecFieldsFragment): JobSpecInput {
  const isUnlimited = spec.maxRunTimeSeconds === null && !spec.preemptable && !spec.interactive
  return { ...withoutDefaults(spec), ...(isUnlimited && { maxRunTimeSeconds: 0 }) }
}

/** Returns the fields that differ from their defaults, sorted by name. */
function withoutDefaults(fields: object): Record<string, unknown> {
  const kept = Object.entries(fields).filter(([name, value]) => value !== null && !isDefault(name, value))
  return Object.fromEntries(
    kept
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, value]) => [name, name === 'resources' || name === 'internalDns' ? withoutDefaults(value) : value]),
  )
}

function isDefault(name: string, value: unknown): boolean {
  if (name in defaults) return value === defaults[name]
  return value === false || (Array.isArray(value) && value.length === 0)
}

/** Maps paths such as `resources.cpu` to values as JSON. */
export function flattenSpec(value: object, prefix = ''): Map<string, string> {
  const entries = Object.entries(value).flatMap(([name, inner]): (readonly [string, string])[] =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? [...flattenSpec(inner, `${prefix}${name}.`)]
      : [[`${prefix}${name}`, JSON.stringify(inner)]],
  )
  return new Map(entries)
}
