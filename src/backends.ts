import { hash } from 'node:crypto'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { parseSshAddress } from './config/engine-address.ts'
import { hasEngines } from './config/engines.ts'
import { isLoopbackAddress } from './config/exposure.ts'
import type { Config, PoolConfig } from './config.ts'
import type { Domain } from './domain/domain.ts'
import type { CheckEngine } from './domain/engine-check.ts'
import { type ExecutorName, isOneMachine } from './domain/executors.ts'
import { loadInstallationKey } from './domain/installation-key.ts'
import { hasUnreadRuns } from './domain/jobs/runs.ts'
import { readEngines } from './domain/machines/engines.ts'
import { type PoolReport, reportPool } from './domain/machines/pool-report.ts'
import type { DeclaredPool } from './domain/machines/pools.ts'
import { type AccountRules, requiresAccount } from './executors/accounts/account.ts'
import { isBackendError } from './executors/backend/unreachable.ts'
import { createContainerExecutor } from './executors/container/container.ts'
import { checkMachine, createMachine, type MachineOptions } from './executors/container/machine.ts'
import { MachinesExecutor } from './executors/container/machines.ts'
import type { ContainerOptions } from './executors/container/start.ts'
import type { Executor } from './executors/executor.ts'
import { createHandlerExecutor } from './executors/handler/handler.ts'
import { KubernetesExecutor } from './executors/kubernetes/kubernetes.ts'
import { createLocalExecutor } from './executors/local/local.ts'
import type { Machine } from './executors/local/machine.ts'
import type { IdentifiedDirectory } from './executors/local/presence.ts'
import { createSimulatedExecutor } from './executors/simulated/simulated.ts'
import { createSlurmExecutor } from './executors/slurm/slurm.ts'

interface ExecutorParts {
  pool: PoolConfig
  config: Config
  domain: Domain
  accounts: AccountRules
  dataDirectory: IdentifiedDirectory
  /** BERTH_URL of the jobs. */
  jobUrl: string
}

const commonOptions = ({ pool, config, accounts, domain: { clock, time, log } }: ExecutorParts) => ({
  environment: config.serverEnvironment,
  inheritNames: pool.inheritedEnvironment,
  accounts,
  logBytesMax: config.logBytesPerRunMax,
  clock,
  time,
  log,
})

const processOptions = (name: 'local' | 'handler', parts: ExecutorParts) => ({
  ...commonOptions(parts),
  spoolDir: join(parts.config.dataDir, name, parts.pool.name),
  dataDirectory: parts.dataDirectory,
  hasGpus: parts.pool.nodes?.some((node) => node.devices.length > 0) ?? false,
})

const createExecutor: Readonly<Record<ExecutorName, (parts: ExecutorParts) => Promise<Executor>>> = {
  local: (parts) => createLocalExecutor(processOptions('local', parts)),
  handler: (parts) => createHandlerExecutor(processOptions('handler', parts)),
  container: (parts) => {
    const options = {
      ...commonOptions(parts),
      ...parts.config.container,
      reachesServer: !isLoopbackAddress(new URL(parts.jobUrl).hostname),
      directory: join(parts.config.dataDir, 'container', parts.pool.name),
      dataRoots: parts.config.dataRoots,
    }
    return hasEngines(parts.pool.nodes) ? createMachinesExecutor(options, parts) : createContainerExecutor(options)
  },
  slurm: (parts) =>
    createSlurmExecutor({
      ...commonOptions(parts),
      sharedDir: parts.pool.sharedDir ?? '',
      pool: parts.pool.name,
      hasRuns: () => hasUnreadRuns(parts.domain, parts.pool.name, 'slurm'),
      queues: Object.fromEntries(
        parts.config.queues.flatMap(({ pool, name, native }) =>
          pool === parts.pool.name ? [[name, native['partition'] ?? name]] : [],
        ),
      ),
    }),
  kubernetes: async (parts) =>
    new KubernetesExecutor({
      ...commonOptions(parts),
      ...parts.config.kubernetes,
      installation: `${parts.config.server.publicUrl} ${parts.pool.name}`,
      dataRoots: parts.config.dataRoots,
    }),
  simulated: (parts) => createSimulatedExecutor({ ...commonOptions(parts), dataDir: parts.config.dataDir }),
}

/** Creates an executor for each node with an engine. Nodes added at run time are read from the database. */
async function createMachinesExecutor(
  options: ContainerOptions,
  { pool, domain, config }: ExecutorParts,
): Promise<Executor> {
  const installation = hash('sha256', await loadInstallationKey(domain)).slice(0, 16)
  const nodes = pool.nodes ?? []
  const open = (
    name: string,
    machine: Pick<MachineOptions, 'engine' | 'ssh' | 'tls' | 'isRemote'> & ContainerOptions,
  ) =>
    createMachine({
      ...machine,
      owner: `${installation} ${pool.name} ${name}`,
      directory: join(options.directory, name),
    })
  const created = nodes.flatMap(({ name, engine, devices }) => {
    if (!engine) return []
    const { address, ssh, isHere, tls, dataRoots = config.dataRoots } = engine
    const own = { ...options, dataRoots, hasGpus: devices.length > 0, engine: address, ssh, tls, isRemote: !isHere }
    return [open(name, own).then((machine) => [name, machine] as const)]
  })
  return new MachinesExecutor({
    machines: new Map(await Promise.all(created)),
    added: {
      async read() {
        const engines = [...(await readEngines(domain, pool.name))]
        return new Map(
          engines.filter(([name, address]) => parseSshAddress(address) && !nodes.some((node) => node.name === name)),
        )
      },
      open: (name, engine) =>
        open(name, { ...options, engine, ssh: parseSshAddress(engine), tls: undefined, isRemote: true }),
    },
    clock: domain.clock,
    log: domain.log,
  })
}

/** Checks engines behind ssh. The configuration must name local engines and TLS files, so they are not checked. */
export const createEngineCheck =
  (
    { clock, time, log }: Pick<Domain, 'clock' | 'time' | 'log'>,
    { serverEnvironment: environment, container: { image } }: Pick<Config, 'serverEnvironment' | 'container'>,
  ): CheckEngine =>
  async (address) => {
    const ssh = parseSshAddress(address)
    if (!ssh) return { refusal: `${address} is not an address like ssh://user@host; name others in the configuration` }
    try {
      const to = { ssh, tls: undefined, isRemote: true, environment, image, clock, time, log }
      const { facts, look, troubles } = await checkMachine(address, to)
      const { cpusMax, memoryBytes } = facts
      return { cpuMillis: cpusMax === null ? null : cpusMax * 1_000, memoryBytes, gpus: look.gpus, troubles }
    } catch (error) {
      if (isBackendError(error)) return { refusal: error.message }
      throw error
    }
  }

/** true: only servers of this machine reach the nodes of the pool. */
export const isBoundHere = (pool: PoolConfig): boolean =>
  hasEngines(pool.nodes) ? pool.nodes?.some(({ engine }) => engine?.isHere) === true : isOneMachine(pool.executors)

export async function createExecutors(parts: ExecutorParts): Promise<ReadonlyMap<string, Executor>> {
  const executors = new Map<string, Executor>()
  for (const name of parts.pool.executors) executors.set(name, await createExecutor[name](parts))
  return executors
}

export interface Reporting {
  domain: Domain
  pool: string
  executors: ReadonlyMap<string, Executor>
  accounts: AccountRules
}

/** Returns a function that stores changed descriptions of the pool's executors for `System.executors`. */
export function createPoolReporter({ domain, pool, executors, accounts }: Reporting): () => Promise<void> {
  let stored: string | undefined
  return async () => {
    const report = await readReport(executors, accounts)
    const text = JSON.stringify(report)
    if (text !== stored) await reportPool(domain, pool, report)
    stored = text
  }
}

async function readReport(executors: ReadonlyMap<string, Executor>, accounts: AccountRules): Promise<PoolReport> {
  const described = await Promise.all(
    [...executors].map(async ([name, executor]) => {
      const { unenforced = [], ...described } = await executor.describe()
      return [name, { ...described, unenforced }] as const
    }),
  )
  return {
    executors: Object.fromEntries(described),
    unixUserRequired: requiresAccount(accounts),
    reservedUnixUsers: accounts.owners.map(({ name }) => name),
  }
}

/** Returns the pool of the configuration. A pool of one machine without nodes gets the detected machine as its node. */
export function declarePool(pool: PoolConfig, machine: Machine): DeclaredPool {
  const { name, policy, executors, relaxReplicas, exec, limits, rates, weights } = pool
  const detected = { name: hostname(), infiniband: false, engine: undefined, ...machine, devices: machine.gpus }
  const nodes = (pool.nodes ?? (isOneMachine(executors) ? [detected] : [])).map(
    ({ name: nodeName, cpuMillis, memoryBytes, cpuModel, infiniband, engine, devices }) => ({
      name: nodeName,
      cpuMillis,
      memoryBytes,
      cpuModel,
      infiniband,
      ...(engine && { engine: engine.address }),
      devices: devices.map((device, index) => ({ ...device, index })),
    }),
  )
  const scheduling = pool.scheduling.planning
  return { name, policy, executors, relaxReplicas, exec, nodes, limits, rates, scheduling, weights }
}

/** Hashes the settings of each pool, to compare the configurations of servers. */
export const hashPools = ({ pools }: Config): Record<string, string> =>
  Object.fromEntries(pools.map((pool) => [pool.name, hash('sha256', JSON.stringify(pool))]))
