import type { Policy } from './lanes.ts'

/**
 * How a pool is planned: the keys of `scheduling` in the configuration that decisions depend on, kept in the pool's row.
 * A missing key has the default of the pool's policy.
 */
export interface Settings {
  /** false: nothing but `processQueue` makes a pass. */
  automatic: boolean
  /** A head that waits this long gets nodes drained for it. */
  holdAfterMs: number
  /** How long a rotation protects those who took part; -1: no rotations. */
  rotationQuantumMs: number
  /** Part of each resource that runs which cannot be preempted may hold together. */
  nonPreemptableFraction: number
  /** A victim of a batch job has run this long. */
  minRunBeforePreemptMs: number
  /** How often a job may be the victim of batch jobs within a quantum. */
  maxPreemptionsPerJob: number
  /** Victims per minute; null: no limit. */
  maxPreemptionsPerMinute: number | null
  /** PRIORITY only: a job may evict preemptable ones of a strictly lower level. */
  preemptLowerPriority: boolean
  onUnsatisfiable: 'WAIT' | 'FAIL'
}

export type StoredSettings = Partial<Settings>

const shared: Settings = {
  automatic: true,
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

export const settingsOf = (policy: Policy, stored: StoredSettings): Settings => ({ ...defaults[policy], ...stored })

/** How long an order to leave is remembered: with rotations off, as long as they protect by default. */
export const memoryMs = ({ rotationQuantumMs }: Pick<Settings, 'rotationQuantumMs'>): number =>
  rotationQuantumMs < 0 ? shared.rotationQuantumMs : rotationQuantumMs
