import { readFile } from 'node:fs/promises'
import { limitConnections } from '../backend/connection-limit.ts'
import { createContainerExecutor } from './container.ts'
import { Containers } from './containers.ts'
import { Engine, type EngineConnection } from './engine.ts'
import { type EngineFacts, readEngineFacts } from './engine-facts.ts'
import { lookAtMachine, type MachineLook } from './machine-look.ts'
import { findTroubles } from './machine-troubles.ts'
import type { MachineExecutor } from './machines.ts'
import { openRemotePort } from './remote-port.ts'
import type { ContainerOptions } from './start.ts'
import { type SshHost, Tunnel } from './tunnel.ts'

export interface MachineOptions extends ContainerOptions {
  engine: string
  owner: string
  /** The tunnel to the engine; null: the engine is reached directly. */
  ssh: SshHost | null
  /** Paths of PEM files. */
  tls: Readonly<{ ca: string; cert: string; key: string }> | undefined
  isRemote: boolean
}

/** The executor of one machine of a pool (machines.ts), with the connection to its engine. */
export const createMachine = async ({ ssh, tls, isRemote, ...options }: MachineOptions): Promise<MachineExecutor> =>
  createContainerExecutor({ ...options, ...(await connectMachine({ ...options, ssh, tls, isRemote })) })

type Reached = Pick<MachineOptions, 'ssh' | 'tls' | 'isRemote' | 'environment' | 'clock' | 'log'>

export interface MachineCheck {
  facts: EngineFacts
  look: MachineLook
  /** Repairs that the machine needs, as sentences. */
  troubles: readonly string[]
}

/** Pools do not remove the containers of a killed check, so the next check does. */
const checkOwner = 'check'
const checksKept = '10m'
/** ssh tries to connect for 10 s. */
const sshMsMax = 12_000

/** Checks the engine of a machine that is in no pool. Throws BackendUnreachable with a fix. */
export async function checkMachine(
  address: string,
  to: Reached & Pick<ContainerOptions, 'time' | 'image'>,
): Promise<MachineCheck> {
  const { connection, onClose } = await connectMachine(to, sshMsMax)
  const engine = new Engine(address, to.clock, connection)
  try {
    const facts = await readEngineFacts(engine, to.time)
    const containers = new Containers(engine, checkOwner, to.clock)
    await containers.prune(checksKept).catch(() => undefined)
    const { image } = to
    const look = await lookAtMachine(engine, containers, { image, hasNvidia: facts.hasNvidia })
    return { facts, look, troubles: findTroubles(facts, look) }
  } finally {
    engine.close()
    await onClose?.()
  }
}

/** `waitMs`: how long to wait for ssh. */
async function connectMachine(
  { ssh, tls, isRemote, environment, clock, log }: Reached,
  waitMs?: number,
): Promise<{ connection: EngineConnection; onClose?(): Promise<void> }> {
  const connection: EngineConnection = { isRemote, ...(tls && { tls: await readCertificates(tls) }) }
  if (ssh === null) return { connection }
  const tunnel = await Tunnel.open({ to: ssh, environment, clock, log }, waitMs)
  const open = limitConnections(`on ${ssh.host}`)
  const openPort = (address: string, port: number) => open(() => openRemotePort(ssh, { address, port, environment }))
  const through = { ...connection, socketPath: tunnel.socketPath, explain: () => tunnel.explain(), openPort }
  return { connection: through, onClose: () => tunnel.close() }
}

async function readCertificates({ ca, cert, key }: NonNullable<MachineOptions['tls']>) {
  const [one, two, three] = await Promise.all([ca, cert, key].map((file) => readFile(file, 'utf8')))
  return { ca: one ?? '', cert: two ?? '', key: three ?? '' }
}
