import type { SubmitChoicesQuery } from '../../generated/graphql.ts'
import type { DraftSpec, Edit } from './spec-text.ts'
import type { Violation } from './violations.ts'

/** What the fields of the form work on: the spec, its violations, and the function that changes it. */
export interface FormSubject {
  spec: DraftSpec
  edit: (edits: readonly Edit[]) => void
  violations: readonly Violation[]
  choices: Choices
}

/** The options of fields such as queue and executor. */
export interface Choices {
  queues: readonly { name: string; pool: string | null; isDefault: boolean }[]
  executors: readonly string[]
  launchers: readonly string[]
  gpuModels: readonly string[]
  teams: readonly string[]
  /** true: an executor that may run the job supports the field. */
  supports: (field: string) => boolean
}

const unique = (names: readonly string[]) => [...new Set(names)]

/** Derives the options from a spec: its queue decides the pool, and the spec or the pool decides the executors. */
export function readChoices(facts: SubmitChoicesQuery | undefined, spec: DraftSpec): Choices {
  const queues = (facts?.submissionQueues ?? []).map(({ name, pool, isDefault }) => ({
    name,
    pool: pool?.name ?? null,
    isDefault,
  }))
  const queue = queues.find(({ name, isDefault }) => (spec['queue'] === undefined ? isDefault : name === spec['queue']))
  const all = facts?.system.executors ?? []
  const ofPool = queue ? all.filter(({ pool }) => pool.name === queue.pool) : all
  const chosen = ofPool.filter(({ name }) => name === spec['executor'])
  const may = chosen.length > 0 ? chosen : ofPool
  const fields = new Set(may.flatMap(({ specFields }) => specFields))
  return {
    queues,
    executors: unique(ofPool.map(({ name }) => name)),
    launchers: unique(may.flatMap(({ launchers }) => launchers)),
    gpuModels: facts?.system.gpuModels ?? [],
    teams: (facts?.viewer.user.teams ?? []).map(({ name }) => name),
    supports: (field) => fields.size === 0 || fields.has(field),
  }
}
