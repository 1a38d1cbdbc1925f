import { readFile } from 'node:fs/promises'
import type { Executor } from '../executor.ts'
import { createContainerExecutor } from './container.ts'
import type { EngineConnection } from './engine.ts'
import type { ContainerOptions } from './start.ts'
import { type SshHost, Tunnel } from './tunnel.ts'

export interface MachineOptions extends ContainerOptions {
  engine: string
  owner: string
  /** The engine is reached through a tunnel; null: directly. */
  ssh: SshHost | null
  /** Files in PEM. */
  tls: Readonly<{ ca: string; cert: string; key: string }> | undefined
  isRemote: boolean
}

/** The executor of one machine of a pool (machines.ts), with the connection to its engine. */
export async function createMachine({ ssh, tls, isRemote, ...options }: MachineOptions): Promise<Executor> {
  const connection: EngineConnection = { isRemote, ...(tls && { tls: await readCertificates(tls) }) }
  const { environment, clock, log } = options
  if (ssh === null) return createContainerExecutor({ ...options, connection })
  const tunnel = await Tunnel.open({ to: ssh, environment, clock, log })
  const through = { ...connection, socketPath: tunnel.socketPath, explain: () => tunnel.explain() }
  return createContainerExecutor({ ...options, connection: through, onClose: () => tunnel.close() })
}

async function readCertificates({ ca, cert, key }: NonNullable<MachineOptions['tls']>) {
  const [one, two, three] = await Promise.all([ca, cert, key].map((file) => readFile(file, 'utf8')))
  return { ca: one ?? '', cert: two ?? '', key: three ?? '' }
}
