import { join, resolve } from 'node:path'
import { createExecutors, createPoolReporter, isBoundHere } from './backends.ts'
import { hasEngines } from './config/engines.ts'
import type { Config } from './config.ts'
import type { Domain } from './domain/domain.ts'
import { bindPoolToDirectory, type Here } from './domain/machines/pools.ts'
import { findOwners } from './executors/accounts/file-owners.ts'
import type { Executor } from './executors/executor.ts'
import type { Machine } from './executors/local/machine.ts'
import { readBootId } from './executors/local/processes.ts'
import type { FreshOutput } from './logs/fresh-output.ts'
import { identify } from './platform/data-directory.ts'
import { createLoop } from './platform/loop.ts'
import { type Parts, startLoop } from './platform/parts.ts'
import { createApprovalExpiry } from './scheduler/approval-expiry-loop.ts'
import { measureExecutors } from './scheduler/measured-executor.ts'
import { createPruner } from './scheduler/pruner.ts'
import { createScheduler, type Scheduler } from './scheduler/scheduler.ts'

/** Maximum delay until `System.executors` shows that a backend appeared or disappeared. */
const reportMs = 30_000

interface Scheduling {
  config: Config
  domain: Domain
  machine: Machine
  /** The name of this server as a leader of pools. */
  holder: string
  fresh: FreshOutput
  jobUrl: string
  /** Filled with the executors of each pool whose runs this server reaches. */
  reached: Map<string, ReadonlyMap<string, Executor>>
}

async function readHere({ dataDir, database }: Config): Promise<Here & { place: string }> {
  const path = resolve(dataDir)
  const { id, place } = await identify(path, await readBootId())
  return { id, place, holdsDatabase: database.url === null }
}

/** Starts the schedulers of the pools. Returns them by pool name. */
export async function startSchedulers(scheduling: Scheduling, down: Parts) {
  const { config, domain, machine, holder, fresh, jobUrl, reached } = scheduling
  const schedulers = new Map<string, Scheduler>()
  const { clock, log } = domain
  const { place, ...here } = await readHere(config)
  const owners = await findOwners(serverFiles(config))
  for (const pool of config.pools) {
    const isBound = isBoundHere(pool)
    if (isBound && !(await bindPoolToDirectory(domain, pool.name, here))) {
      const idFile = join(resolve(config.dataDir), 'id')
      log.warn(
        { pool: pool.name },
        `this pool belongs to another data directory, where its jobs run. If that directory is lost for good, write its id (column directory of table pool) into ${idFile}`,
      )
      continue
    }
    const accounts = {
      hasUsers: !domain.singleUser,
      jobsAsRoot: pool.jobsAsRoot,
      isRemote: hasEngines(pool.nodes),
      owners,
    }
    const dataDirectory = { path: resolve(config.dataDir), id: here.id }
    const executors = measureExecutors(await createExecutors({ pool, config, domain, accounts, dataDirectory, jobUrl }))
    reached.set(pool.name, executors)
    for (const executor of executors.values()) down.push(() => executor.close())
    const report = createPoolReporter({ domain, pool: pool.name, executors, accounts })
    await report()
    startLoop(createLoop({ name: 'executor reports', pollMs: reportMs, runOnce: report, clock, log }), down)
    const scheduler = createScheduler({
      domain,
      pool: pool.name,
      executors,
      holder,
      host: machine.host,
      place: isBound ? place : null,
      direct: config.database.notify,
      graceMs: pool.scheduling.graceMs,
      nodeLostAfterMs: pool.scheduling.nodeLostAfterMs,
      startAttemptsMax: pool.scheduling.startAttemptsMax,
      logBytesPerRunMax: config.logBytesPerRunMax,
      outputLimits: {
        bytesMax: config.files.outputsBytesMax,
        filesMax: config.files.snapshotFilesMax,
        userBytesMax: config.files.userBytesMax,
      },
      fresh,
      jobUrl,
    })
    schedulers.set(pool.name, scheduler)
    scheduler.start()
    down.push(() => scheduler.stop())
  }
  for (const loop of [createPruner(domain, config.retention), createApprovalExpiry(domain)]) startLoop(loop, down)
  return schedulers
}

/** Files of the server. An account that owns one of them could change the server, or read its data. */
const serverFiles = ({ dataDir }: Config) => [
  dataDir,
  join(dataDir, 'postgres', 'cluster'),
  join(import.meta.dirname, '..'),
  import.meta.filename,
  process.execPath,
]
