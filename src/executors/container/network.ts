import type { JobSpec } from '../../domain/spec.ts'
import { internalName } from '../internal-name.ts'
import { type Engine, isEngineConflict, isNotFound } from './engine.ts'

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
      const name = internalName(spec)
      const aliases = name === null ? [] : [name]
      return { host: { NetworkMode: shared }, networking: { EndpointsConfig: { [shared]: { Aliases: aliases } } } }
    }
  }
}

export async function ensureNetworks(engine: Engine): Promise<void> {
  for (const network of networks) if (!(await exists(engine, network.Name))) await make(engine, network)
}

async function exists(engine: Engine, name: string): Promise<boolean> {
  try {
    await engine.get(`/networks/${name}`)
    return true
  } catch (error) {
    if (isNotFound(error)) return false
    throw error
  }
}

async function make(engine: Engine, network: (typeof networks)[number]): Promise<void> {
  try {
    await engine.post('/networks/create', {}, network)
  } catch (error) {
    if (!isEngineConflict(error)) throw error
  }
}
