import { JobSpecDocument, type JobSpecInput, type SpecFieldsFragment } from '../client/generated/graphql.ts'
import type { Cli } from './cli.ts'
import { unknownJob } from './exit.ts'

/** Specs as they are submitted, without fields that have their defaults. */

const defaults: Readonly<Record<string, unknown>> = {
  inheritEnvironment: true,
  launcher: 'single',
  onDependencyFailure: 'CANCEL',
  maxRunTimeSeconds: 0,
  replicas: 1,
  gpu: 0,
}

export async function readSpec(cli: Cli, id: string): Promise<SpecFieldsFragment> {
  const { job } = await cli.connection().request(JobSpecDocument, { id }, { attempts: 2 })
  if (!job) throw unknownJob(id)
  return job.spec
}

/** The names of the fields are those of the input. */
export const toSpecInput = (spec: SpecFieldsFragment): JobSpecInput => withoutDefaults(spec) as JobSpecInput

function withoutDefaults(fields: object): Record<string, unknown> {
  const kept = Object.entries(fields).filter(([name, value]) => value !== null && !isDefault(name, value))
  return Object.fromEntries(
    kept.map(([name, value]) => [
      name,
      name === 'resources' || name === 'internalDns' ? withoutDefaults(value) : value,
    ]),
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
