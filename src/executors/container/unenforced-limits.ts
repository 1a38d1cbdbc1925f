import type { Limit } from '../executor.ts'
import type { Engine } from './engine.ts'

const limits = ['memory', 'cpu', 'pids'] as const

interface Info {
  MemoryLimit?: boolean
  CpuCfsQuota?: boolean
  PidsLimit?: boolean
}

/**
 * Limits of containers that the engine ignores, which it tells before any container asks for one. Podman says yes to all of
 * dockerd's questions; rootless it has only the controllers of cgroups that its account was given.
 */
export async function readUnenforced(engine: Engine, isPodman: boolean): Promise<readonly Limit[]> {
  if (isPodman) {
    const info = await engine.podman<{ host?: { cgroupControllers?: readonly string[] | null } }>('/info')
    const controllers = info?.host?.cgroupControllers
    return controllers ? limits.filter((name) => !controllers.includes(name)) : []
  }
  const { MemoryLimit: memory, CpuCfsQuota: cpu, PidsLimit: pids } = await engine.get<Info>('/info')
  const kept = { memory, cpu, pids }
  return limits.filter((name) => kept[name] === false)
}
