import type { PsijState } from '../generated/graphql.ts'

const finalRank = 3

/** A state of PSI/J. States are ordered, but no final state is greater than another. */
export class JobState {
  static readonly NEW = new JobState('NEW', 0)
  static readonly QUEUED = new JobState('QUEUED', 1)
  static readonly ACTIVE = new JobState('ACTIVE', 2)
  static readonly COMPLETED = new JobState('COMPLETED', finalRank)
  static readonly FAILED = new JobState('FAILED', finalRank)
  static readonly CANCELED = new JobState('CANCELED', finalRank)

  readonly name: PsijState
  readonly #rank: number

  private constructor(name: PsijState, rank: number) {
    this.name = name
    this.#rank = rank
  }

  static of(name: PsijState): JobState {
    return JobState[name]
  }

  /** true: a job can go from the other state to this one. */
  isGreaterThan(other: JobState): boolean {
    return this.#rank > other.#rank
  }

  get isFinal(): boolean {
    return this.#rank === finalRank
  }

  toString(): string {
    return this.name
  }
}
