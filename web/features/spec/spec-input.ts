import type { JobSpecInput, SpecFieldsFragment } from '../../generated/graphql.ts'

export type Spec = SpecFieldsFragment

const gibBytes = 1024 ** 3
const usualRunTimeSeconds = 172_800
/** The value of `maxRunTimeSeconds` for no limit. A submission without the field gets the default limit. */
export const unlimitedSeconds = 0

/** Defaults of the server. The defaults of all other fields are absent, empty or false. */
const usual: Readonly<Record<string, unknown>> = {
  inheritEnvironment: true,
  launcher: 'single',
  onDependencyFailure: 'CANCEL',
}
/** Matches a user's own account, which is the default account. */
const ownAccount = /^users\.[^.]+$/
const usualResources: Readonly<Record<string, unknown>> = { cpu: 1, gpu: 0, replicas: 1 }

const isEmpty = (value: unknown) =>
  value === null || value === undefined || value === false || (Array.isArray(value) && value.length === 0)

/** Returns the fields whose value is not the default. */
const pickNonDefaults = (fields: object, defaults: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.entries(fields).filter(([name, value]) =>
      name in defaults ? value !== defaults[name] : name !== '__typename' && !isEmpty(value),
    ),
  )

/** Uses the field `…Gib` for whole GiB, and `…Bytes` for other amounts. */
const toBytesInput = (name: 'memory' | 'gpuMemory', bytes: number | null) => {
  if (bytes === null) return {}
  return bytes % gibBytes === 0 ? { [`${name}Gib`]: bytes / gibBytes } : { [`${name}Bytes`]: bytes }
}

/** Converts a stored spec to the shortest input that gives the same spec. */
export function toSpecInput(spec: Spec): JobSpecInput {
  const { resources, retry, x11, maxRunTimeSeconds, internalDns, ...others } = spec
  const { cpu, memoryBytes, gpu, gpuMemoryBytes, ...more } = resources
  const isUsualTime = maxRunTimeSeconds === usualRunTimeSeconds && !spec.preemptable && !spec.interactive
  const input = {
    ...pickNonDefaults({ name: others.name }, {}),
    ...pickNonDefaults(
      { ...others, name: null, account: ownAccount.test(others.account) ? null : others.account },
      usual,
    ),
    resources: {
      ...pickNonDefaults({ cpu }, usualResources),
      ...toBytesInput('memory', memoryBytes),
      ...pickNonDefaults({ gpu }, usualResources),
      ...toBytesInput('gpuMemory', gpuMemoryBytes),
      ...pickNonDefaults(more, usualResources),
    },
    ...(!isUsualTime && { maxRunTimeSeconds: maxRunTimeSeconds ?? unlimitedSeconds }),
    ...(retry && { retry: pickNonDefaults(retry, {}) }),
    ...(x11 && { x11 }),
    ...(internalDns && { internalDns }),
  }
  return input as JobSpecInput
}

/** Converts a stored spec to the input of a copy. It keeps team and account only if the job is the viewer's own. */
export function toCopyInput(spec: Spec, isOwn: boolean): JobSpecInput {
  const { team, account, ...input } = toSpecInput(spec)
  if (!isOwn) return input
  const isDerived = account == null || account === team || account.startsWith('users.')
  return { ...input, ...(team != null && { team }), ...(!isDerived && { account }) }
}

const isSaid = (said: object, name: string) =>
  name in said || `${name.replace(/Bytes$/, '')}Gib` in said || name === '__typename'

const omitSaid = (fields: object, said: object) =>
  Object.fromEntries(
    Object.entries(fields).filter(
      ([name, value]) =>
        !isSaid(said, name) && value !== null && !(Array.isArray(value) && value.length === 0) && name !== 'resources',
    ),
  )

/** Returns the values that the server filled in, which `toSpecInput` leaves out. */
export function toFilledIn(spec: Spec): Record<string, unknown> {
  const said = toSpecInput(spec)
  return { ...omitSaid(spec, said), resources: omitSaid(spec.resources, said.resources ?? {}) }
}
