import { type Pattern, parseGlob } from '../pattern.ts'
import type { JobEventRow } from './body.ts'
import { toWebhookEventType } from './event-types.ts'

/** Fields are joined by AND, entries of a list by OR, labels by AND; an absent field admits all. */
export interface WebhookFilter {
  readonly pools?: readonly string[] | undefined
  readonly queues?: readonly string[] | undefined
  readonly users?: readonly string[] | undefined
  readonly teams?: readonly string[] | undefined
  readonly accounts?: readonly string[] | undefined
  readonly projects?: readonly string[] | undefined
  readonly labels?: Readonly<Record<string, string>> | undefined
  /** Glob: `*` any characters, `?` one. */
  readonly name?: string | undefined
}

export interface EventChoice {
  /** null: all types. */
  readonly events: readonly string[] | null
  readonly filter: WebhookFilter
}

const factsOfLists = [
  ['pools', 'pool'],
  ['queues', 'queue'],
  ['users', 'user'],
  ['teams', 'team'],
  ['accounts', 'account'],
  ['projects', 'project'],
] as const

export interface CompiledChoice {
  /** true: the endpoint gets this event of a job. */
  admits(event: JobEventRow): boolean
  /** true: the endpoint gets events of this type that have no job. */
  admitsType(type: string): boolean
}

export function compileChoice({ events, filter }: EventChoice): CompiledChoice {
  const types = events === null ? null : new Set(events)
  const admitsType = (type: string) => types === null || types.has(type)
  const name: Pattern | null = filter.name === undefined ? null : parseGlob(filter.name)
  const labels = Object.entries(filter.labels ?? {})
  const admits = (event: JobEventRow) =>
    admitsType(toWebhookEventType(event.type, event.to)) &&
    factsOfLists.every(([list, fact]) => filter[list]?.some((each) => each === event[fact]) ?? true) &&
    labels.every(([key, value]) => event.labels[key] === value) &&
    (name === null || (event.name !== null && name.matches(event.name)))
  return { admits, admitsType }
}
