import { execFile } from 'node:child_process'
import { availableParallelism, cpus, hostname, networkInterfaces, totalmem } from 'node:os'
import { promisify } from 'node:util'
import type { Log } from '../../platform/log.ts'
import { readErrorCode } from '../backend/file-errors.ts'
import { type Gpu, gpuArguments, parseGpus } from '../backend/gpus.ts'

export interface Machine {
  host: string
  cpuMillis: number
  /** Memory for jobs; 1 GiB is reserved for the system and the server. */
  memoryBytes: number
  cpuModel: string
  gpus: Gpu[]
}

const run = promisify(execFile)
const gib = 1024 ** 3

export async function detectMachine(log: Log): Promise<Machine> {
  const gpus = await detectGpus(log)
  return {
    host: hostname(),
    cpuMillis: availableParallelism() * 1000,
    memoryBytes: Math.max(readMemory() - gib, gib / 2),
    cpuModel: cpus()[0]?.model.trim() ?? 'unknown',
    gpus,
  }
}

/** Returns the total memory, or the limit of the server's cgroup (its container), which runs count against. */
const readMemory = () => Math.min(totalmem(), process.constrainedMemory() || totalmem())

/** Returns the first address at which other machines may reach this one, preferably IPv4, or null. */
export function findAddress(): string | null {
  const addresses = Object.values(networkInterfaces()).flatMap(
    (each) => each?.filter(({ internal }) => !internal) ?? [],
  )
  return (addresses.find(({ family }) => family === 'IPv4') ?? addresses[0])?.address ?? null
}

const queryTimeoutMs = 10_000
/** Errors for a directory of PATH that the server is not allowed to read. */
const closedPath = new Set(['EACCES', 'ELOOP', 'ENAMETOOLONG', 'ENOTDIR'])

async function detectGpus(log: Log): Promise<Gpu[]> {
  try {
    const { stdout } = await run('nvidia-smi', [...gpuArguments], { timeout: queryTimeoutMs })
    const { stdout: banner } = await run('nvidia-smi', [], { timeout: queryTimeoutMs })
    return parseGpus(stdout, banner)
  } catch (error) {
    if (readErrorCode(error) === 'ENOENT') return []
    const { code, path, syscall } = error as NodeJS.ErrnoException
    if (syscall?.startsWith('spawn') && closedPath.has(code ?? '')) {
      const why = `${path} or a folder of the PATH cannot be read; declare the GPUs in the configuration if there are any`
      log.warn({ code }, `starting without GPUs, because they cannot be detected: ${why}`)
      return []
    }
    throw new Error('nvidia-smi failed; repair it, or declare the GPUs in the configuration', {
      cause: error,
    })
  }
}
