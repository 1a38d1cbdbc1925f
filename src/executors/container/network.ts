import type { JobSpec } from '../../domain/spec.ts'
import { BackendRefused } from '../backend/unreachable.ts'
import { StartFailed } from '../executor.ts'
import { type Engine, isEngineConflict, isPodman } from './engine.ts'

/**
 * Networks of containers, created when the first job needs them. In `berth` all jobs reach each other. In `berth-in`
 * jobs with networkIsolation IN reach the internet, but no other job. Jobs with OUT or ALL have no network, because
 * every network of the engine would let them reach this machine.
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

export function networkConfig(spec: JobSpec): Network {
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

/** Creates missing networks, and removes duplicates, whose name the engine cannot resolve. */
export async function ensureNetworks(engine: Engine): Promise<void> {
  for (const network of networks)
    if (!(await removeDuplicates(engine, network.Name))) {
      await make(engine, network)
      await removeDuplicates(engine, network.Name)
    }
}

/**
 * true: containers have DNS names. Podman needs a DNS plugin for that; its Netavark reports DNS even without
 * aardvark-dns.
 */
export async function hasNames(engine: Engine): Promise<boolean> {
  if (!(await isPodman(engine))) return true
  const network = await engine.getFromPodman<{ dns_enabled?: boolean }>(`/networks/${shared}/json`)
  return network?.dns_enabled !== false
}

interface Found {
  Id: string
  Name: string
  Created: string
}

/**
 * Removes duplicates; returns whether the network exists. Simultaneous requests create several networks with one name;
 * only the first has containers.
 */
async function removeDuplicates(engine: Engine, name: string): Promise<boolean> {
  const listed = await engine.get<Found[]>('/networks', { filters: JSON.stringify({ name: [name] }) })
  const [first, ...others] = listed.filter(({ Name }) => Name === name).toSorted(byAge)
  for (const { Id: id } of others) await engine.delete(`/networks/${id}`).catch(unlessRefused)
  return first !== undefined
}

const byAge = (one: Found, other: Found) =>
  Date.parse(one.Created) - Date.parse(other.Created) || (one.Id < other.Id ? -1 : 1)

/** Ignores a refusal: another process removed the network, or a container uses it. */
function unlessRefused(error: unknown): void {
  if (!(error instanceof BackendRefused)) throw error
}

/** Creates a network. A failure is NODE_TROUBLE, because all jobs share the network. */
async function make(engine: Engine, network: (typeof networks)[number]): Promise<void> {
  try {
    await engine.post('/networks/create', {}, network)
  } catch (error) {
    if (isEngineConflict(error)) return
    if (!(error instanceof BackendRefused)) throw error
    const message = `The container engine cannot make the network ${network.Name}: ${error.message}`
    throw new StartFailed('NODE_TROUBLE', message, { cause: error })
  }
}
