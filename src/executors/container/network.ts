import type { JobSpec } from '../../domain/spec.ts'
import { StartFailed } from '../executor.ts'
import { type Engine, EngineError, isEngineConflict, isPodman } from './engine.ts'

/**
 * Networks of containers, made when the first job needs them.
 *
 * - `berth`: of all jobs. They reach each other, and a job with internalDns by its name.
 * - `berth-in`: of jobs that nothing may reach (networkIsolation IN). They reach the world, but not each other, and the jobs
 *   of `berth` neither.
 * - none: OUT and ALL. A job that may not send is not reached either: what the engine offers between networks would still
 *   let it reach this machine.
 */
const shared = 'berth'
const unreachable = 'berth-in'

const networks = [
  { Name: shared, Driver: 'bridge', CheckDuplicate: true },
  {
    Name: unreachable,
    Driver: 'bridge',
    CheckDuplicate: true,
    Options: { 'com.docker.network.bridge.enable_icc': 'false' },
  },
] as const

interface Network {
  host: { NetworkMode: string }
  networking: unknown
}

export function networkOf(spec: JobSpec): Network {
  switch (spec.networkIsolation) {
    case 'OUT':
    case 'ALL':
      return { host: { NetworkMode: 'none' }, networking: {} }
    case 'IN':
      return { host: { NetworkMode: unreachable }, networking: { EndpointsConfig: { [unreachable]: {} } } }
    case null: {
      const aliases = spec.internalDns === null ? [] : [spec.internalDns.name]
      return { host: { NetworkMode: shared }, networking: { EndpointsConfig: { [shared]: { Aliases: aliases } } } }
    }
  }
}

/** Makes those that are missing. Of a name that several networks have, the engine knows none: the first one stays. */
export async function ensureNetworks(engine: Engine): Promise<void> {
  for (const network of networks)
    if (!(await isSettled(engine, network.Name))) {
      await make(engine, network)
      await isSettled(engine, network.Name)
    }
}

/**
 * Podman's networks have names only with a plugin for DNS. Without it Podman leaves names out without a word. Under CNI a
 * network has the plugins of the time when it was made. Netavark says that there is DNS also where aardvark-dns is missing.
 */
export async function hasNames(engine: Engine): Promise<boolean> {
  if (!(await isPodman(engine))) return true
  const network = await engine.podman<{ dns_enabled?: boolean }>(`/networks/${shared}/json`)
  return network?.dns_enabled !== false
}

interface Found {
  Id: string
  Name: string
  Created: string
}

/**
 * Whether there is one. Docker looks for duplicates before it makes a network, so two requests at the same time make
 * two; what comes later has no container yet.
 */
async function isSettled(engine: Engine, name: string): Promise<boolean> {
  const listed = await engine.get<Found[]>('/networks', { filters: JSON.stringify({ name: [name] }) })
  const [first, ...others] = listed.filter(({ Name }) => Name === name).toSorted(byAge)
  for (const { Id: id } of others) await engine.delete(`/networks/${id}`).catch(unlessRefused)
  return first !== undefined
}

const byAge = (one: Found, other: Found) =>
  Date.parse(one.Created) - Date.parse(other.Created) || (one.Id < other.Id ? -1 : 1)

/** Another process removed it, or a container is in it. */
function unlessRefused(error: unknown): void {
  if (!(error instanceof EngineError)) throw error
}

/** It is the same network for all jobs, so no job is to blame. */
async function make(engine: Engine, network: (typeof networks)[number]): Promise<void> {
  try {
    await engine.post('/networks/create', {}, network)
  } catch (error) {
    if (isEngineConflict(error)) return
    if (!(error instanceof EngineError)) throw error
    const message = `The container engine cannot make the network ${network.Name}: ${error.message}`
    throw new StartFailed('NODE_TROUBLE', message, { cause: error })
  }
}
