import type { Clock } from '../../platform/clock.ts'
import { type Gpu, gpuArguments, parseGpus } from '../backend/gpus.ts'
import { isBackendError } from '../backend/unreachable.ts'
import { readFile } from './archive.ts'
import type { Containers } from './containers.ts'
import type { Engine } from './engine.ts'
import { inspectImage, isReference } from './image.ts'
import { diskFull } from './start-failure.ts'

/**
 * Reads the free disk space and the GPUs of a machine, which engines do not report, in a short-lived container of the
 * configured image, if the engine has it. The container has no network and no folders of the machine.
 */

export interface MachineLook {
  /** Free fraction of the file system of the containers; null: unknown. */
  diskFree: number | null
  gpus: readonly Gpu[]
  /**
   * Error message of the engine if containers get no GPUs; null: they get them, or the engine has no NVIDIA runtime.
   */
  gpuFailure: string | null
}

export const unseen: MachineLook = { diskFree: null, gpus: [], gpuFailure: null }

const memoryBytesMax = 256 * 2 ** 20
const pidsMax = 32
const nanoCpus = 0.5e9
const lookEveryMs = 600_000
const seenFile = '/berth-seen'
const seenBytesMax = 2 ** 16
const separator = '=='
const script = `{ df -Pk /; echo ${separator}; nvidia-smi '${gpuArguments.join("' '")}'; echo ${separator}; nvidia-smi; } >${seenFile} 2>/dev/null`

interface Looking {
  /** The configured image: an image that only a job names would run untrusted code as root here. */
  image: string
  hasNvidia: boolean
}

/** Returns `unseen` if the engine does not have the image, or it has no shell. */
export async function lookAtMachine(engine: Engine, containers: Containers, to: Looking): Promise<MachineLook> {
  const { hasNvidia } = to
  const image = isReference(to.image) ? (await inspectImage(engine, to.image))?.Id : undefined
  if (image === undefined) return unseen
  const { seen, failure } = await look(engine, containers, { image, hasNvidia })
  if (seen !== null) return { ...parseLook(seen), gpuFailure: null }
  if (failure?.includes(diskFull)) return { ...unseen, diskFree: 0 }
  if (!hasNvidia || failure === null || !/nvidia|gpu|device driver/i.test(failure)) return unseen
  const { seen: withoutGpus } = await look(engine, containers, { image, hasNvidia: false })
  return { ...parseLook(withoutGpus ?? ''), gpuFailure: failure }
}

/** `failure`: why the engine could not start the container. */
async function look(engine: Engine, containers: Containers, { image, hasNvidia }: Looking) {
  const host = {
    NetworkMode: 'none',
    CapDrop: ['ALL'],
    // On Podman, the permissions of the container's root directory deny writing.
    CapAdd: ['DAC_OVERRIDE'],
    SecurityOpt: ['no-new-privileges'],
    Memory: memoryBytesMax,
    MemorySwap: memoryBytesMax,
    PidsLimit: pidsMax,
    NanoCpus: nanoCpus,
    DeviceRequests: hasNvidia ? [{ Count: -1, Capabilities: [['gpu', 'utility']] }] : [],
  }
  const order = { Cmd: ['/bin/sh', '-c', script], User: '0', HostConfig: host }
  const run = async (name: string) => {
    await engine.post(`/containers/${name}/start`)
    await engine.post(`/containers/${name}/wait`)
    return { seen: await readFile(engine, { container: name, path: seenFile, bytesMax: seenBytesMax }), failure: null }
  }
  try {
    return await containers.lookInto(image, run, order)
  } catch (error) {
    if (isBackendError(error)) return { seen: null, failure: error.message }
    throw error
  }
}

export function parseLook(seen: string): Omit<MachineLook, 'gpuFailure'> {
  const [disk = '', table = '', banner = ''] = seen.split(`${separator}\n`)
  const [, bytes, , free] = disk.trim().split('\n').at(-1)?.trim().split(/\s+/) ?? []
  const diskFree = Number(bytes) > 0 ? Number(free) / Number(bytes) : null
  // Without a driver, nvidia-smi prints a sentence instead of rows.
  const rows = table.split('\n').filter((line) => line.split(',').length >= 3)
  return { diskFree, gpus: parseGpus(rows.join('\n'), banner) }
}

/**
 * Inspects a machine at most every ten minutes, because each time starts a container. Returns the last result at once.
 */
export function createCachedLook(
  clock: Clock,
  look: (hasNvidia: boolean) => Promise<MachineLook>,
): (hasNvidia: boolean) => MachineLook {
  let last = unseen
  let againMs = 0
  return (hasNvidia) => {
    const nowMs = clock.monotonicMs()
    if (nowMs < againMs) return last
    againMs = nowMs + lookEveryMs
    void look(hasNvidia)
      .then((seen) => {
        last = seen
      })
      // The next call of the engine reports the reason.
      .catch(() => undefined)
    return last
  }
}
