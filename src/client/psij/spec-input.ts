import type { Executor, JobSpecInput } from '../generated/graphql.ts'
import { InvalidJobException } from './exceptions.ts'
import { JobAttributes, JobSpec, type ResourceSpecV1, resourceDefaults } from './job-spec.ts'

const durationSecondsDefault = 600

/** Converts a name of an executor, which PSI/J writes in lower case. */
export const toExecutor = (name: string) => name.toUpperCase() as Executor

/** Converts a PSI/J specification to the server's input. Throws for invalid fields. */
export function toSpecInput(spec: JobSpec | undefined, executor: string | undefined): JobSpecInput {
  if (!spec) throw new InvalidJobException('The job has no spec')
  demandKnown('spec', Object.keys(spec), new JobSpec())
  const { directory: workdir, environment, resources, attributes, executable, arguments: words, ...same } = spec
  if (typeof executable !== 'string' || executable === '')
    throw new InvalidJobException('spec.executable must be the path of a program')
  for (const [name, text] of Object.entries({ ...same, workdir }))
    if (name !== 'inheritEnvironment' && text !== undefined && typeof text !== 'string')
      throw new InvalidJobException(`spec.${name === 'workdir' ? 'directory' : name} must be a text`)
  if (words && !(Array.isArray(words) && words.every((word) => typeof word === 'string')))
    throw new InvalidJobException('spec.arguments must be a list of texts')
  return defined({
    ...same,
    executable,
    workdir,
    executor: executor === undefined ? undefined : toExecutor(executor),
    arguments: words && [...words],
    environment: environment && environmentOf(environment),
    resources: resources && resourcesOf(resources),
    ...attributesOf(attributes),
  })
}

function environmentOf(environment: Record<string, string>) {
  return Object.entries(environment).map(([name, value]) => {
    if (typeof value !== 'string') throw new InvalidJobException(`spec.environment.${name} must be a text`)
    return { name, value }
  })
}

/** Refuses unknown properties, because a misspelt one would have no effect. */
function demandKnown(path: string, names: readonly string[], known: object) {
  for (const name of names)
    if (!(name in known))
      throw new InvalidJobException(`${path}.${name} is not known; ${path} has ${Object.keys(known).join(', ')}`)
}

function resourcesOf({ version: _, given, ...others }: ResourceSpecV1) {
  demandKnown('resources', Object.keys({ ...given, ...others }), resourceDefaults)
  if (given.nodeCount !== undefined && given.processCount !== undefined)
    throw new InvalidJobException('resources.nodeCount and resources.processCount exclude each other: give one of them')
  return defined(given)
}

function attributesOf(attributes: JobAttributes) {
  demandKnown('attributes', Object.keys(attributes), new JobAttributes())
  const { duration, queueName, projectName, reservationId, customAttributes } = attributes
  return {
    durationSeconds: duration?.toSeconds() ?? durationSecondsDefault,
    queue: queueName,
    project: projectName,
    capacityReservationId: reservationId,
    customAttributes,
  }
}

type Defined<T> = { [Key in keyof T]: Exclude<T[Key], undefined> }

const defined = <T extends object>(fields: T): Defined<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>
