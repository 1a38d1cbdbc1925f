import { requireField } from '../../client/connection/failure.ts'
import { JobSpecDocument, type JobSpecInput, type SpecFieldsFragment } from '../../client/generated/graphql.ts'
import type { Cli } from '../frame/cli.ts'
import { unknownJob } from '../frame/exit.ts'

/** Specs as they are submitted, without fields that have their defaults. */

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

/** The names of the fields are those of the input. A submission says 0 for no limit, where it would get the usual one. */
export function toSpecInput(spec: SpecFieldsFragment): JobSpecInput {
  const isUnlimited = spec.maxRunTimeSeconds === null && !spec.preemptable && !spec.interactive
  return { ...withoutDefaults(spec), ...(isUnlimited && { maxRunTimeSeconds: 0 }) }
}

/** The other fields, ordered by name. */
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

/** `resources.cpu` → its value as JSON. */
export function flattenSpec(value: object, prefix = ''): Map<string, string> {
  const entries = Object.entries(value).flatMap(([name, inner]): (readonly [string, string])[] =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? [...flattenSpec(inner, `${prefix}${name}.`)]
      : [[`${prefix}${name}`, JSON.stringify(inner)]],
  )
  return new Map(entries)
}
