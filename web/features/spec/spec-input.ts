import type { JobSpecInput, SpecFieldsFragment } from '../../generated/graphql.ts'

export type Spec = SpecFieldsFragment

const gibBytes = 1024 ** 3
const usualRunTimeSeconds = 172_800
/** A submission without a limit says so; otherwise it gets the usual one. */
export const unlimitedSeconds = 0

/** What the server fills in where a submission says nothing. Other fields are absent, empty or false then. */
const usual: Readonly<Record<string, unknown>> = {
  inheritEnvironment: true,
  launcher: 'single',
  onDependencyFailure: 'CANCEL',
}
/** The account of a user is the default of that user. */
const ownAccount = /^users\.[^.]+$/
const usualResources: Readonly<Record<string, unknown>> = { cpu: 1, gpu: 0, replicas: 1 }

const isEmpty = (value: unknown) =>
  value === null || value === undefined || value === false || (Array.isArray(value) && value.length === 0)

/** The fields whose value is not the default. */
const pickNonDefaults = (fields: object, defaults: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.entries(fields).filter(([name, value]) =>
      name in defaults ? value !== defaults[name] : name !== '__typename' && !isEmpty(value),
    ),
  )

/** Writes whole GiB as `…Gib`, other amounts as `…Bytes`. */
const toBytesInput = (name: 'memory' | 'gpuMemory', bytes: number | null) => {
  if (bytes === null) return {}
  return bytes % gibBytes === 0 ? { [`${name}Gib`]: bytes / gibBytes } : { [`${name}Bytes`]: bytes }
}

/** The stored spec as a submission gives it: short, and with the same result. */
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

/** The spec of a copy. Team and account follow from who submits, unless the job is the person's own and names them. */
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

/** The values that the server filled in: what `toSpecInput` leaves out. */
export function toFilledIn(spec: Spec): Record<string, unknown> {
  const said = toSpecInput(spec)
  return { ...omitSaid(spec, said), resources: omitSaid(spec.resources, said.resources ?? {}) }
}
