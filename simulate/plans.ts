import type { LimitChange } from '../src/domain/limits/limits.ts'
import type { QuotaRule } from '../src/domain/limits/quota-rules.ts'
import type { DeclaredNode } from '../src/domain/machines/pools.ts'
import type { ModelLimit, Planning, PoolPlan } from './actions.ts'
import type { Random } from './random.ts'

const GiB = 1024 ** 3

export function randomPlan(random: Random): PoolPlan {
  return {
    policy: random.chance(0.5) ? 'PRIORITY' : 'FAIR_SHARE',
    nodes: Array.from({ length: random.between(1, 4) }, (_, index) => randomNode(`n${index}`, random)),
    limits: randomLimits(random),
    models: random.chance(0.3) ? [randomModel(random)] : [],
    planning: randomPlanning(random),
    quotas: randomQuotas(random),
  }
}

export function randomNode(name: string, random: Random): DeclaredNode {
  const model = random.of(['Tesla V100', 'Tesla P100', 'NVIDIA H100'])
  return {
    name,
    cpuMillis: random.of([4_000, 8_000, 16_000]),
    memoryBytes: 64 * GiB,
    cpuModel: null,
    infiniband: random.chance(0.5),
    devices: Array.from({ length: random.of([0, 2, 4, 8]) }, (_, index) => ({
      index,
      model,
      memoryGib: model === 'NVIDIA H100' ? 80 : 32,
      tensorCores: model !== 'Tesla P100',
      cuda: [],
    })),
  }
}

export const randomLimits = (random: Random): LimitChange => ({
  maxConcurrent: random.chance(0.5) ? random.between(0, 8) || 1 : null,
  userMaxConcurrent: random.chance(0.5) ? random.between(1, 4) : null,
  localGpuMaxConcurrent: random.chance(0.2) ? random.between(1, 8) : null,
  userMaxActive: null,
  userMaxBlocked: null,
  starvationThresholdSeconds: random.of([null, 60, 3_600]),
})

export const randomModel = (random: Random): ModelLimit => ({
  gpuModel: random.of(['v100', 'p100', 'tesla']),
  maxGpus: random.of([null, 1, 2, 4]),
})

export const randomPlanning = (random: Random): Planning => ({
  scheduling: {
    shareHalfLifeMs: random.of([null, null, 600_000]),
    rotationQuantumMs: random.of([3_600_000, 100_000, -1]),
    nonPreemptableFraction: random.of([0.25, 0.5, 1]),
    minRunBeforePreemptMs: random.of([0, 0, 20_000]),
    maxPreemptionsPerMinute: random.of([null, 3]),
    preemptLowerPriority: random.chance(0.5),
  },
  weights: random.chance(0.3) ? { [random.of(['a', 'b', 'a.sub'])]: random.of([2, 0.5]) } : {},
})

const hourly = 40

function randomQuotas(random: Random): QuotaRule[] {
  const quota = (more: Pick<QuotaRule, 'type' | 'scope' | 'key' | 'limit'>): QuotaRule => ({ action: 'BLOCK', ...more })
  return [
    ...(random.chance(0.3)
      ? [quota({ type: 'CONCURRENT_JOBS', scope: 'USER', key: 'cyd', limit: random.between(2, 8) })]
      : []),
    ...(random.chance(0.3)
      ? [quota({ type: 'CONCURRENT_JOBS', scope: 'ACCOUNT', key: 'a', limit: random.between(4, 20) })]
      : []),
    ...(random.chance(0.2) ? [quota({ type: 'JOBS_PER_HOUR', scope: 'GLOBAL', key: null, limit: hourly })] : []),
  ]
}
