import { isBackendError } from '../backend/unreachable.ts'
import type { Handle, Sample } from '../executor.ts'
import { isHandle } from './containers.ts'
import type { Engine } from './engine.ts'

/** The engine's response of `GET /containers/{name}/stats`, as far as Berth uses it. */
export interface Stats {
  cpu_stats?: { cpu_usage?: { total_usage?: number } }
  memory_stats?: {
    usage?: number
    /** cgroup version 2: `inactive_file`; version 1: `total_inactive_file`. Podman sends none. */
    stats?: Readonly<Record<string, number>> | null
  }
}

const nanosPerSecond = 1e9
/** Requests to the engine at the same time: dockerd measures once a second and answers them together. */
const requestsMax = 32

/** Reads the use of each container with a separate request, because the engine has no request for several. */
export async function sampleContainers(engine: Engine, handles: readonly Handle[]): Promise<Sample[]> {
  const samples: Sample[] = []
  for (let at = 0; at < handles.length; at += requestsMax)
    samples.push(
      ...(await Promise.all(handles.slice(at, at + requestsMax).map((handle) => sampleContainer(engine, handle)))),
    )
  return samples
}

/**
 * `one-shot`: the engine does not wait for a second value to compare with. A container that cannot be read has an empty
 * sample: Podman sends an empty response for one that does not run, and an outage of the engine is reported elsewhere.
 */
async function sampleContainer(engine: Engine, handle: Handle): Promise<Sample> {
  if (!isHandle(handle)) return {}
  try {
    return parseStats(await engine.get<Stats>(`/containers/${handle}/stats`, { stream: false, 'one-shot': true }))
  } catch (error) {
    if (isBackendError(error)) return {}
    throw error
  }
}

/** A container that does not run has zeros, or no fields, instead of its use. */
export function parseStats({ cpu_stats: cpu, memory_stats: memory }: Stats): Sample {
  const nanos = cpu?.cpu_usage?.total_usage ?? 0
  const bytes = memory?.usage ?? 0
  const { total_inactive_file: ofTree, inactive_file: inactive = 0 } = memory?.stats ?? {}
  return {
    ...(nanos > 0 && { cpuSeconds: nanos / nanosPerSecond }),
    ...(bytes > 0 && { memoryBytes: Math.max(0, bytes - (ofTree ?? inactive)) }),
  }
}
