import type { Time } from '../../platform/clock.ts'
import { type Engine, type EngineVersion, isPodmanVersion } from './engine.ts'
import type { MachineLook } from './machine-look.ts'

/** Facts of an engine and its machine, and the troubles that an administrator must repair there. */

export interface EngineFacts {
  /** For people: `Docker 28.2.2`. */
  name: string
  version: string
  isPodman: boolean
  /** The engine can start an init program in containers. */
  hasInit: boolean
  /** The engine has the runtime of NVIDIA's container toolkit. */
  hasNvidia: boolean
  cpusMax: number | null
  memoryBytes: number | null
  /** Until the engine answered. */
  latencyMs: number
  /** By how much the clock of the machine is ahead of the given time; null: unknown. */
  aheadMs: number | null
}

interface Info {
  InitBinary?: string
  NCPU?: number
  MemTotal?: number
  Runtimes?: Record<string, unknown> | null
  SystemTime?: string
}

export async function readEngineFacts(engine: Engine, time: Time): Promise<EngineFacts> {
  const beganMs = time.nowMs()
  // Reads both in parallel: on a busy machine Podman takes a second for each.
  const [read, { info, ms }] = await Promise.all([
    engine.get<EngineVersion>('/version'),
    engine.get<Info>('/info').then((answer) => ({ info: answer, ms: time.nowMs() })),
  ])
  const version = read.Version
  engine.checkAnswer(typeof version === 'string', '/version')
  const isPodman = isPodmanVersion(read)
  const aheadMs = Date.parse(info.SystemTime ?? '') - (beganMs + ms) / 2
  return {
    name: `${isPodman ? 'Podman' : 'Docker'} ${version}`,
    version,
    isPodman,
    hasInit: (info.InitBinary ?? '') !== '',
    hasNvidia: 'nvidia' in (info.Runtimes ?? {}),
    cpusMax: info.NCPU || null,
    memoryBytes: info.MemTotal || null,
    latencyMs: ms - beganMs,
    aheadMs: Number.isNaN(aheadMs) ? null : Math.round(aheadMs),
  }
}

const oldest = { Docker: [20, 10], Podman: [4, 0] } as const
const apartMsMax = 5_000
const diskFreeMin = 0.1

/** Sentences that name the trouble and the remedy. `look`: for a machine with GPUs for jobs, if `hasGpus`. */
export function findTroubles(facts: EngineFacts, look?: MachineLook, hasGpus = false): string[] {
  const { name, version, isPodman, aheadMs } = facts
  const [major, minor] = oldest[isPodman ? 'Podman' : 'Docker']
  const [ownMajor = 0, ownMinor = 0] = version.split('.').map(Number)
  const isOld = ownMajor < major || (ownMajor === major && ownMinor < minor)
  const apartSeconds = Math.round(Math.abs(aheadMs ?? 0) / 1000)
  const isApart = apartSeconds * 1000 > apartMsMax
  const side = (aheadMs ?? 0) > 0 ? 'ahead of' : 'behind'
  const diskFree = look?.diskFree ?? 1
  const troubles: readonly (readonly [holds: boolean, sentence: string])[] = [
    [isOld, `${name} is too old: update it to ${major}.${minor} or newer`],
    [
      isApart,
      `The clock of the machine is ${apartSeconds} s ${side} that of the server: run "timedatectl set-ntp true" on both`,
    ],
    [
      diskFree < diskFreeMin,
      `${Math.floor(diskFree * 100)} % of the disk of the containers is free: remove images and containers there, for example with "docker system prune"`,
    ],
    [hasGpus && !facts.hasNvidia && !isPodman, `The GPUs of the node reach no job: ${withoutNvidia}`],
    [
      look?.gpuFailure != null,
      `The engine gives containers no GPUs: ${look?.gpuFailure}; repair the driver until "nvidia-smi" works there`,
    ],
  ]
  return troubles.flatMap(([holds, sentence]) => (holds ? [sentence] : []))
}

export const withoutNvidia =
  'the engine has no NVIDIA runtime; install nvidia-container-toolkit, and run "nvidia-ctk runtime configure"'
