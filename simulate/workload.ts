import { Random } from './random.ts'

/**
 * Jobs that arrive at a pool of nodes with 8 GPUs each. Sizes, run times and gaps between arrivals follow the model of
 * batch jobs of Lublin and Feitelson ("The workload on parallel supercomputers", 2003); the gaps are scaled to the load
 * `load`. Limits are round times as people write them: 1.2 to 2.5 times the run time, rounded up.
 */

export const gpusPerNode = 8

export interface Work {
  id: number
  user: string
  arrivesMs: number
  /** Each copy needs a node with this many free GPUs. */
  copies: number
  gpus: number
  runMs: number
  limitMs: number
}

export interface WorkloadOptions {
  seed: number
  nodes: number
  /** Requested GPU time, as a fraction of the GPU time of the pool while jobs arrive. */
  load: number
  jobs: number
}

/** Parameters of the model for batch jobs. */
const serial = 0.2927
const powerOfTwo = 0.6686
const smallest = 1.2
const isBelowMedium = 0.875
const largestToMedium = 2.5
const shortRuns = { shape: 6.57, scale: 0.823 }
const longRuns = { shape: 639.1, scale: 0.0156 }
const shortPart = 0.6986
const shortPartPerGpu = -0.003
const gaps = { shape: 10.2303, scale: 0.4871 }

const usersCount = 12
const minuteMs = 60_000
const hourMs = 60 * minuteMs
const writtenMs = [5, 10, 15, 30].map((minutes) => minutes * minuteMs)
const limitsMs = [...writtenMs, ...[1, 2, 3, 4, 6, 8, 12, 18, 24, 36, 48, 72, 96, 120].map((hours) => hours * hourMs)]
const runMsMax = 36 * hourMs

export function makeWork({ seed, nodes, load, jobs }: WorkloadOptions): Work[] {
  const random = new Random(seed)
  let atMs = 0
  const made = Array.from({ length: jobs }, (_, id) => {
    atMs += Math.exp(gamma(random, gaps))
    const { copies, gpus } = divide(sizeOf(random, nodes * gpusPerNode))
    const runMs = runMsOf(random, copies * gpus)
    return {
      id,
      user: `u${random.between(1, usersCount)}`,
      arrivesMs: atMs,
      copies,
      gpus,
      runMs,
      limitMs: limitOf(random, runMs),
    }
  })
  const askedMs = made.reduce((sum, { copies, gpus, runMs }) => sum + copies * gpus * runMs, 0)
  const scale = askedMs / (nodes * gpusPerNode * load) / atMs
  return made.map((work) => ({ ...work, arrivesMs: Math.round(work.arrivesMs * scale) }))
}

function sizeOf(random: Random, gpusMax: number): number {
  const kind = random.next()
  if (kind < serial) return 1
  const largest = Math.log2(gpusMax)
  const medium = largest - largestToMedium
  const isSmall = random.chance(isBelowMedium)
  const [low, high] = isSmall ? [smallest, medium] : [medium, largest]
  const exponent = low + random.next() * (high - low)
  return Math.round(2 ** (kind < serial + powerOfTwo ? Math.round(exponent) : exponent))
}

/** A size of more than one node becomes a number of whole nodes. */
function divide(size: number): Pick<Work, 'copies' | 'gpus'> {
  const copies = Math.ceil(size / gpusPerNode)
  return copies === 1 ? { copies, gpus: size } : { copies, gpus: gpusPerNode }
}

function runMsOf(random: Random, size: number): number {
  const isShort = random.chance(Math.max(0, shortPart + shortPartPerGpu * size))
  const seconds = Math.exp(gamma(random, isShort ? shortRuns : longRuns))
  return Math.round(Math.min(runMsMax, seconds * 1_000))
}

function limitOf(random: Random, runMs: number): number {
  const wantedMs = runMs * (1.2 + 1.3 * random.next())
  return limitsMs.find((limitMs) => limitMs >= wantedMs) ?? wantedMs
}

/** Draws from the gamma distribution by the method of Marsaglia and Tsang. */
function gamma(random: Random, { shape, scale }: { shape: number; scale: number }): number {
  const d = shape - 1 / 3
  const c = 1 / Math.sqrt(9 * d)
  for (;;) {
    const x = random.normal()
    const v = (1 + c * x) ** 3
    if (v > 0 && Math.log(1 - random.next()) < 0.5 * x * x + d - d * v + d * Math.log(v)) return d * v * scale
  }
}
