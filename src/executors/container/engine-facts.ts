import type { Time } from '../../platform/clock.ts'
import { type Engine, type EngineVersion, isPodmanVersion } from './engine.ts'

/** Facts of an engine and its machine. */

export interface EngineFacts {
  /** Text for users: `Docker 28.2.2`. */
  name: string
  version: string
  isPodman: boolean
  /** The engine can start an init program in containers. */
  hasInit: boolean
  /** The engine has the runtime of NVIDIA's container toolkit. */
  hasNvidia: boolean
  cpusMax: number | null
  memoryBytes: number | null
  /** Round-trip time of the engine. */
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
