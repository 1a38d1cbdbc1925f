import { InvalidArgumentError } from 'commander'
import type { JobSpecInput } from '../../client/generated/graphql.ts'
import { usageError } from '../frame/exit.ts'

/** `--sweep lr=0.1,0.01 --sweep seed=1..4` submits a job for each combination of the values. */

export interface Parameter {
  name: string
  values: readonly string[]
}

export const sweepJobsMax = 1_000

/** Reads `lr=0.1,0.01` or `seed=1..4`. */
export function readParameter(given: string, before: Parameter[] = []): Parameter[] {
  const [, name, text = ''] = /^([A-Za-z_]\w*)=(.+)$/s.exec(given) ?? []
  if (name === undefined) throw new InvalidArgumentError('Expected name=value,value or name=1..4.')
  return [...before, { name, values: text.split(',').flatMap(readRange) }]
}

function readRange(text: string): string[] {
  const [, from, to] = /^(-?\d{1,9})\.\.(-?\d{1,9})$/.exec(text) ?? []
  if (from === undefined) return [text]
  const count = Number(to) - Number(from) + 1
  if (!(count >= 1 && count <= sweepJobsMax))
    throw new InvalidArgumentError(`Expected a range of 1 to ${sweepJobsMax} values, such as 1..4.`)
  return Array.from({ length: count }, (_, i) => String(Number(from) + i))
}

/**
 * Makes the specs of a sweep. Each value becomes an environment variable and a label with the name of its parameter, and
 * replaces `{name}` in the command and in the job name. `{{name}}` is an escaped `{name}`.
 */
export function expandSweep(spec: JobSpecInput, parameters: readonly Parameter[], sweep: string): JobSpecInput[] {
  const count = parameters.reduce((product, { values }) => product * values.length, 1)
  if (count > sweepJobsMax)
    throw usageError(`the sweep has ${count} jobs`, `the limit is ${sweepJobsMax}; use fewer values`)
  return combine(parameters).map((values) => {
    const known = new Map(values)
    const fill = (word: string) =>
      word.replace(placeholder, (_, kept?: string, name = '') =>
        kept ? `{${kept}}` : (known.get(name) ?? unknownName(name)),
      )
    const labels = [['sweep', sweep] as const, ...values].map(([key, value]) => ({ key, value }))
    const own = spec.labels ?? []
    return {
      ...spec,
      ...(spec.command && { command: spec.command.map(fill) }),
      ...(spec.arguments && { arguments: spec.arguments.map(fill) }),
      ...(spec.name && { name: fill(spec.name) }),
      labels: [...own, ...labels.filter(({ key }) => !own.some((each) => each.key === key))],
      environment: [...(spec.environment ?? []), ...values.map(([name, value]) => ({ name, value }))],
    }
  })
}

/** Matches `{{name}}` and `{name}`, but not `${name}`, which is a shell variable. */
const placeholder = /\{\{([A-Za-z_]\w*)\}\}|(?<!\$)\{([A-Za-z_]\w*)\}/g

function unknownName(name: string): never {
  throw usageError(
    `{${name}} is not a parameter of the sweep`,
    `pass --sweep ${name}=…, or write {{${name}}} for the text {${name}}`,
  )
}

type Values = readonly (readonly [string, string])[]

function combine([first, ...rest]: readonly Parameter[]): Values[] {
  if (!first) return [[]]
  return first.values.flatMap((value) => combine(rest).map((others) => [[first.name, value] as const, ...others]))
}
