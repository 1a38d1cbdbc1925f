import type { Limit } from '../executor.ts'
import type { Engine } from './engine.ts'

const limits = ['memory', 'cpu', 'pids'] as const

interface Info {
  MemoryLimit?: boolean
  CpuCfsQuota?: boolean
  PidsLimit?: boolean
}

/**
 * Limits that the engine ignores. Podman's answer to dockerd's fields is always yes; rootless it has only the cgroup
 * controllers that its account was given.
 */
export async function readUnenforced(engine: Engine, isPodman: boolean): Promise<readonly Limit[]> {
  if (isPodman) {
    const info = await engine.getFromPodman<{ host?: { cgroupControllers?: readonly string[] | null } }>('/info')
    const controllers = info?.host?.cgroupControllers
    return controllers ? limits.filter((name) => !controllers.includes(name)) : []
  }
  const { MemoryLimit: memory, CpuCfsQuota: cpu, PidsLimit: pids } = await engine.get<Info>('/info')
  const kept = { memory, cpu, pids }
  return limits.filter((name) => kept[name] === false)
}
