import type { Policy } from './lanes.ts'

/** The scheduling settings of a pool. A missing key has the default of the pool's policy. */

export interface Settings {
  /** false: passes are made only by `planPools`. */
  automatic: boolean
  /** FAIR_SHARE: half-life of past use; null: only present use counts. */
  shareHalfLifeMs: number | null
  /** Time for which a rotation protects the jobs that took part; -1: no rotations. */
  rotationQuantumMs: number
  /** Fraction of each resource that all non-preemptable runs together may hold. */
  nonPreemptableFraction: number
  minRunBeforePreemptMs: number
  /** How many times batch jobs may preempt a job within a quantum. */
  maxPreemptionsPerJob: number
  /** Maximum victims per minute; null: no limit. */
  maxPreemptionsPerMinute: number | null
  /** PRIORITY only: a job may evict preemptable jobs of lower priority. */
  preemptLowerPriority: boolean
  onUnsatisfiable: 'WAIT' | 'FAIL'
}

export type StoredSettings = Partial<Settings>

const shared: Settings = {
  automatic: true,
  shareHalfLifeMs: null,
  rotationQuantumMs: 3_600_000,
  nonPreemptableFraction: 0.25,
  minRunBeforePreemptMs: 0,
  maxPreemptionsPerJob: 2,
  maxPreemptionsPerMinute: null,
  preemptLowerPriority: false,
  onUnsatisfiable: 'WAIT',
}

const defaults: Readonly<Record<Policy, Settings>> = {
  FAIR_SHARE: { ...shared, shareHalfLifeMs: 86_400_000 },
  PRIORITY: { ...shared, nonPreemptableFraction: 1 },
}

export const mergeSettings = (policy: Policy, stored: StoredSettings): Settings => ({ ...defaults[policy], ...stored })

/** Time for which preemptions count: the quantum, or the default quantum if the pool has no rotations. */
export const preemptionMemoryMs = ({ rotationQuantumMs }: Pick<Settings, 'rotationQuantumMs'>): number =>
  rotationQuantumMs < 0 ? shared.rotationQuantumMs : rotationQuantumMs
