import { readdir, readFile } from 'node:fs/promises'
import type { JobSpec } from '../../domain/spec.ts'
import { BackendRefused } from '../backend/unreachable.ts'
import { StartFailed } from '../executor.ts'
import { type Engine, isEngineConflict, isPodman } from './engine.ts'

/**
 * Networks of containers, made when the first job needs them.
 *
 * - `berth`: all jobs. They reach each other, and a job with internalDns by its name.
 * - `berth-in`: jobs with networkIsolation IN. They reach the world, but neither each other nor the jobs of `berth`.
 * - none: jobs with OUT or ALL. A job that may not send cannot be reached either: every network of the engine would let it
 *   reach this machine.
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

/** Makes missing networks and removes duplicates, whose name the engine cannot resolve. */
export async function ensureNetworks(engine: Engine): Promise<void> {
  for (const network of networks)
    if (!(await removeDuplicates(engine, network.Name))) {
      await make(engine, network)
      await removeDuplicates(engine, network.Name)
    }
}

/**
 * Whether containers find each other by name. Podman needs a DNS plugin for that and does not report that it is missing. Under
 * CNI a network has the plugins of the time when it was made. Netavark reports DNS even without aardvark-dns.
 */
export async function hasNames(engine: Engine): Promise<boolean> {
  if (!(await isPodman(engine))) return true
  const network = await engine.getFromPodman<{ dns_enabled?: boolean }>(`/networks/${shared}/json`)
  return network?.dns_enabled !== false
}

/**
 * Whether `berth-in` may be open to other containers: a second dockerd on this machine empties the firewall chain of the
 * first one when it starts.
 */
export async function hasSecondDockerd(): Promise<boolean> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name))
  const names = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '')))
  return names.filter((name) => name === 'dockerd\n').length > 1
}

interface Found {
  Id: string
  Name: string
  Created: string
}

/**
 * Whether the network exists. Two requests at the same time make two networks of one name; the later one has no container
 * yet.
 */
async function removeDuplicates(engine: Engine, name: string): Promise<boolean> {
  const listed = await engine.get<Found[]>('/networks', { filters: JSON.stringify({ name: [name] }) })
  const [first, ...others] = listed.filter(({ Name }) => Name === name).toSorted(byAge)
  for (const { Id: id } of others) await engine.delete(`/networks/${id}`).catch(unlessRefused)
  return first !== undefined
}

const byAge = (one: Found, other: Found) =>
  Date.parse(one.Created) - Date.parse(other.Created) || (one.Id < other.Id ? -1 : 1)

/** A refusal: another process removed the network, or a container uses it. */
function unlessRefused(error: unknown): void {
  if (!(error instanceof BackendRefused)) throw error
}

/** A failure is trouble of the node, because all jobs share the network. */
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
