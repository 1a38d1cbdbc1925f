import { type LimitRule, listLimitRules } from '../src/domain/limits/limit-reached.ts'
import type { LimitChange } from '../src/domain/limits/limits.ts'
import type { FreeNode } from '../src/domain/machines/placement.ts'
import type { DeclaredNode } from '../src/domain/machines/pools.ts'
import { mergeSettings } from '../src/domain/scheduling.ts'
import type { PoolSettings } from '../src/scheduler/plan/model.ts'
import type { ModelLimit, PoolPlan } from './actions.ts'

/** Nodes and settings of a simulated pool, as its leader reads them. */

export const makeFreeNode = (node: DeclaredNode): FreeNode => ({
  ...node,
  id: `node_${node.name}`,
  state: 'READY',
  freeCpu: node.cpuMillis,
  freeMemory: node.memoryBytes,
  infinibandFree: node.infiniband,
  gpuJobsOnly: false,
  backOff: null,
  interactive: 0,
  devices: node.devices.map((device) => ({ ...device, free: true })),
  others: null,
})

export const makePoolSettings = ({ policy, limits, models, planning }: PoolPlan): PoolSettings => ({
  ...mergeSettings(policy, planning.scheduling),
  pool: 'sim',
  policy,
  revision: 1,
  starvationThresholdMs: startThreshold(limits),
  rules: makeLimitRules(limits, models),
  weights: new Map(Object.entries(planning.weights)),
  reservations: [],
})

export const startThreshold = ({ starvationThresholdSeconds = 3_600 }: LimitChange) =>
  (starvationThresholdSeconds ?? 0) * 1_000

export function makeLimitRules(limits: LimitChange, models: readonly ModelLimit[]): LimitRule[] {
  const { maxConcurrent = null, userMaxConcurrent = null, localGpuMaxConcurrent = null } = limits
  const all = {
    maxConcurrent,
    userMaxConcurrent,
    localGpuMaxConcurrent,
    teamMaxConcurrent: null,
    enableFairShare: false,
    localJobMaxConcurrent: null,
    userMaxActive: null,
    userMaxBlocked: null,
    starvationThresholdSeconds: null,
  }
  const scopes = models
    .filter(({ maxGpus }) => maxGpus !== null)
    .map((model) => ({ scope: 'QUEUE' as const, name: 'default', maxJobs: null, counted: 'queue:default', ...model }))
    .sort((a, b) => (a.gpuModel < b.gpuModel ? -1 : 1))
  return listLimitRules(all, scopes)
}
