import type { Policy } from './lanes.ts'

/** The scheduling settings of a pool. A missing key has the default of the pool's policy. */

export interface Settings {
  /** false: only `processQueue` makes a pass. */
  automatic: boolean
  /** FAIR_SHARE: after this time, past use counts half; null: only present use counts. */
  shareHalfLifeMs: number | null
  /** After this wait, nodes are drained for the head of a lane. */
  holdAfterMs: number
  /** How long a rotation protects the jobs that took part; -1: no rotations. */
  rotationQuantumMs: number
  /** Fraction of each resource that non-preemptable runs may hold together. */
  nonPreemptableFraction: number
  /** Minimum run time before a run can be the victim of a batch job. */
  minRunBeforePreemptMs: number
  /** How often a job may be the victim of batch jobs within a quantum. */
  maxPreemptionsPerJob: number
  /** Maximum victims per minute; null: no limit. */
  maxPreemptionsPerMinute: number | null
  /** PRIORITY only: a job may evict preemptable jobs of a strictly lower level. */
  preemptLowerPriority: boolean
  onUnsatisfiable: 'WAIT' | 'FAIL'
}

export type StoredSettings = Partial<Settings>

const shared: Settings = {
  automatic: true,
  shareHalfLifeMs: null,
  holdAfterMs: 600_000,
  rotationQuantumMs: 3_600_000,
  nonPreemptableFraction: 0.25,
  minRunBeforePreemptMs: 0,
  maxPreemptionsPerJob: 2,
  maxPreemptionsPerMinute: null,
  preemptLowerPriority: false,
  onUnsatisfiable: 'WAIT',
}

const defaults: Readonly<Record<Policy, Settings>> = {
  FAIR_SHARE: shared,
  PRIORITY: { ...shared, holdAfterMs: 3_600_000, nonPreemptableFraction: 1 },
}

export const mergeSettings = (policy: Policy, stored: StoredSettings): Settings => ({ ...defaults[policy], ...stored })

/** How long a preemption is remembered; with rotations off, for the default quantum. */
export const preemptionMemoryMs = ({ rotationQuantumMs }: Pick<Settings, 'rotationQuantumMs'>): number =>
  rotationQuantumMs < 0 ? shared.rotationQuantumMs : rotationQuantumMs
