import { existsSync } from 'node:fs'
import { release, uptime } from 'node:os'
import type { Duplex } from 'node:stream'
import type { FoundOutput, OutputFile, Unread } from '../../domain/outputs/found.ts'
import type { Clock } from '../../platform/clock.ts'
import { createLoop } from '../../platform/loop.ts'
import { mapInSlices } from '../../platform/slices.ts'
import { Outage } from '../../platform/troubles.ts'
import { describeSeparation } from '../accounts/account.ts'
import { Alarms } from '../backend/alarms.ts'
import { blameMachine } from '../backend/blame-machine.ts'
import { type CompleteOptions, type ExecutorOptions, optionDefaults } from '../backend/executor-options.ts'
import { readGpuUse, sampleGpus } from '../backend/gpus.ts'
import { readOutputs } from '../backend/outputs.ts'
import {
  type ExecOrder,
  type ExecProcess,
  type Executor,
  type ExecutorDescription,
  type Handle,
  type LogChunk,
  type Observation,
  type RunSpec,
  type Sample,
  type SampledRun,
  SessionRefused,
  StartFailed,
} from '../executor.ts'
import { Cgroups, endCgroups } from './cgroups.ts'
import { killJob, sendTerm } from './end-job.ts'
import { execInRun } from './exec.ts'
import { type Journal, readJournal, recordStop, recordVoid } from './journal.ts'
import { buildLaunch } from './launch.ts'
import { connectToRun } from './listening-ports.ts'
import { findAddress } from './machine.ts'
import { readOutput } from './output.ts'
import { type IdentifiedDirectory, Presence, spoolMissingMessage } from './presence.ts'
import { readBootId } from './processes.ts'
import { type SampledJournal, Samples } from './samples.ts'
import { Spawner } from './spawner.ts'
import { listRuns, locateFiles, makeRunFolder, makeRuns, type RunFiles, removeFiles } from './spool.ts'
import { catchSpoolTrouble } from './start-failure.ts'
import { findShim, isOverdue, type WatchedMachine } from './supervision.ts'
import { readUnsent } from './unsent-closures.ts'
import { judgeRun } from './verdict.ts'
import { Watchdog } from './watchdog.ts'
import { readWorkdir } from './workdir.ts'

/**
 * Runs jobs as processes of this machine, which outlive the server. The parent of each is shim.sh, which also specifies
 * the protocol. The journal of a run is the only source of its state. The handle is the run's id.
 *
 * - start: creates the directory and starts a shim. The shim takes the claim, or exits if it is taken, so the command
 *   runs at most once.
 * - stop: writes the record, then sends TERM to the process group of the job. At the end of the grace period, any
 *   server of the directory kills the whole job (supervision.ts), or the watchdog if no server runs. The fallback
 *   deadline of a run is enforced in the same way.
 *
 * If no shim has taken the claim of a run, the server takes it at a stop or after `claimMs`, so that the run never
 * starts.
 *
 * The supervisor and the readers of the output run under the server's account, in another session and outside of the
 * job's cgroup; spool and journal are in directories with mode 0700. So a job of another account cannot change them.
 */

export interface LocalOptions extends ExecutorOptions {
  spoolDir: string
  /** Absent: only the spool itself is checked. */
  dataDirectory?: IdentifiedDirectory
  /** true: the pool has GPUs, which are hidden from jobs without GPUs. */
  hasGpus?: boolean
  /** false: use no cgroups. */
  usesCgroups?: boolean
}

/** A shim that has not taken its claim after this time never will. */
const claimMs = 30_000
/** Interval at which a server that is not the leader, and so watches no run, searches for overdue runs. */
const overduePollMs = 2_000

/** `Kind`: the class of the executor. */
export async function createLocalExecutor(options: LocalOptions, Kind = LocalExecutor): Promise<LocalExecutor> {
  await makeRuns(options.spoolDir)
  const executor = new Kind(options, await readBootId())
  await executor.open()
  return executor
}

export class LocalExecutor implements Executor {
  readonly name: string = 'local'
  readonly #options: LocalOptions & CompleteOptions
  readonly #clock: Clock
  readonly #presence: Presence
  readonly #machine: WatchedMachine
  readonly #cgroups: Cgroups
  readonly #watchdog: Watchdog
  readonly #alarms: Alarms
  readonly #spawner: Spawner
  readonly #overdue: ReturnType<typeof createLoop>
  /**
   * When this server first saw each journal without a claim. File times cannot serve, because they depend on a clock
   * that may be set.
   */
  readonly #unclaimed = new Map<string, number>()
  readonly #samples = new Samples()
  /** Identities of the processes of running runs, which never change. */
  readonly #sampled = new Map<string, SampledJournal>()
  readonly #closing = new AbortController()

  constructor(options: LocalOptions, bootId: string) {
    const { spoolDir, clock, time, log, dataDirectory = null, usesCgroups = true } = options
    this.#options = { ...optionDefaults, ...options }
    this.#clock = clock
    this.#presence = new Presence(spoolDir, dataDirectory, log)
    this.#machine = { bootId, nowMs: () => time.nowMs(), ip: findAddress(), cleared: new Set() }
    this.#cgroups = new Cgroups(usesCgroups ? spoolDir : null)
    this.#watchdog = new Watchdog(spoolDir, clock)
    this.#alarms = new Alarms(clock)
    this.#spawner = new Spawner(spoolDir, clock, (runId) => this.#alarms.ring(runId))
    const runOnce = () => this.#endOverdue()
    this.#overdue = createLoop({ name: 'overdue runs', pollMs: overduePollMs, runOnce, clock, log })
  }

  /** Resumes the supervision of the runs in the spool. */
  async open(): Promise<void> {
    if ((await listRuns(this.#options.spoolDir)).length > 0) this.#watchdog.ensure()
    this.#removeLeftoverCgroups()
    this.#overdue.start()
  }

  /**
   * Starts the run. If the spool is missing, it is unknown whether an earlier leader started the run, or whether a
   * start in progress succeeded. In both cases this waits: reporting a failure would start the job a second time.
   */
  async start(run: RunSpec, unwanted?: AbortSignal, tell?: (info: string) => void): Promise<Handle> {
    const files = this.#locate(run.runId)
    if (!files) throw new StartFailed('BAD_SPEC', `Not the id of a run: ${run.runId}`)
    if (!run.inherited) this.#presence.assertHereForStart()
    if (run.openSnapshot) tell?.('The snapshot is being unpacked')
    for (;;) {
      await this.#presence.waitUntilHere(this.#clock, unwanted, tell)
      try {
        return await this.#startHere(run, files, unwanted)
      } catch (error) {
        if (!(error instanceof Outage) && this.#presence.isHere()) throw error
      }
    }
  }

  /** Finds a run. If a dead server left it without a claim, takes the claim, so that the run never starts. */
  async find(runId: string): Promise<Handle | null> {
    const files = this.#locate(runId)
    if (!files) return null
    if (this.#presence.readJournal(files.journal)?.claim) return runId
    if (!existsSync(files.directory)) return null
    await this.#abandon(files)
    return this.#presence.readJournal(files.journal) ? runId : null
  }

  inspect(runIds: readonly Handle[]): Promise<Observation[]> {
    return Promise.all(
      runIds.map(async (runId) => {
        const files = this.#locate(runId)
        return files ? this.#addUnsentClosure(files, await this.#observe(files)) : { state: 'gone' }
      }),
    )
  }

  async *logs(runId: Handle, from: unknown, signal: AbortSignal): AsyncGenerator<LogChunk> {
    const files = this.#locate(runId)
    if (!files) return
    using alarm = this.#alarms.of(runId)
    yield* readOutput({
      files,
      from,
      signal: AbortSignal.any([signal, this.#closing.signal]),
      alarm,
      presence: this.#presence,
      isWatched: () => this.#spawner.watches(runId),
      observe: () => this.#observe(files),
      clock: this.#clock,
      log: this.#options.log,
    })
  }

  async stop(runId: Handle, graceMs: number): Promise<void> {
    const files = this.#locate(runId)
    const found = files && this.#presence.readJournal(files.journal)
    if (!files || !found) return
    const journal = found.claim ? found : this.#voidClaim(files)
    if (!journal?.claim || journal.exit || journal.claim.boot !== this.#machine.bootId) return
    const up = uptime() + graceMs / 1000
    if (graceMs > 0 && journal.stopUp !== null && journal.stopUp <= up) return
    const shim = await findShim(journal.claim)
    // No inspection may happen between the record and TERM, because an inspection would send TERM as well.
    if (!recordStop(files.journal, { graceSeconds: graceMs / 1000, up })) this.#presence.assertHere()
    if (graceMs > 0) this.#watchdog.ensure()
    if (shim) await this.#endJob(files, graceMs)
  }

  async *outputs(
    runId: Handle,
    pick: (found: FoundOutput) => boolean,
    signal: AbortSignal,
  ): AsyncGenerator<OutputFile | Unread> {
    const files = this.#locate(runId)
    this.#presence.assertHere()
    const workdir = files && (await readWorkdir(files))
    if (workdir) yield* readOutputs(workdir, pick, AbortSignal.any([signal, this.#closing.signal]))
  }

  async forget(runId: Handle): Promise<void> {
    const files = this.#locate(runId)
    if (files) await this.#remove(files)
  }

  async list(): Promise<{ runId: string; handle: Handle }[]> {
    this.#presence.assertHere()
    return (await listRuns(this.#options.spoolDir)).map((runId) => ({ runId, handle: runId }))
  }

  async sample(runs: readonly SampledRun[]): Promise<Sample[]> {
    const journals = await mapInSlices(runs, ({ handle }) => this.#readSampled(handle))
    const [uses, samples] = await Promise.all([readGpuUse(runs), this.#samples.sample(journals)])
    return samples.map((sample, index) => ({ ...sample, ...sampleGpus(runs[index]?.gpuIds ?? [], uses) }))
  }

  exec(runId: Handle, order: ExecOrder): Promise<ExecProcess> {
    const { bootId } = this.#machine
    const { accounts } = this.#options
    return execInRun(order, { runId, journal: this.#readJournal(runId), bootId, accounts })
  }

  async connect(runId: Handle, port: number): Promise<Duplex> {
    const journal = this.#readJournal(runId)
    if (!journal?.claim || journal.exit || journal.claim.boot !== this.#machine.bootId)
      throw new SessionRefused('The run has no process on this machine')
    return connectToRun(runId, { ...journal, claim: journal.claim }, port)
  }

  async describe(): Promise<ExecutorDescription> {
    const available = this.#presence.isHere()
    const { unenforced, base } = this.#cgroups
    const sentences = [
      available ? null : spoolMissingMessage,
      unenforced.length === 0 ? null : `${unenforced.join(', ')}: planned with, not enforced`,
      base === null ? withoutCgroups : null,
      sameAccount,
      describeSeparation(this.#options.accounts),
    ]
    const message = sentences.filter((sentence) => sentence !== null).join('. ')
    return { version: release(), available, unenforced, message }
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#overdue.stop()
    this.#spawner.close()
    this.#watchdog.close()
    this.#cgroups.close()
  }

  #locate(runId: string): RunFiles | null {
    return locateFiles(this.#options.spoolDir, runId)
  }

  #readJournal(runId: string): Journal | null {
    const files = this.#locate(runId)
    return files && this.#presence.readJournal(files.journal)
  }

  #readSampled(runId: string): SampledJournal | null {
    const known = this.#sampled.get(runId)
    if (known) return known
    const files = this.#locate(runId)
    const journal = files && readJournal(files.journal)
    if (!journal?.session || journal.claim?.boot !== this.#machine.bootId) return null
    const { claim, session, limited } = journal
    this.#sampled.set(runId, { claim, session, limited })
    return { claim, session, limited }
  }

  async #startHere(run: RunSpec, files: RunFiles, signal?: AbortSignal): Promise<Handle> {
    const { runId } = run
    if (catchSpoolTrouble(() => this.#presence.readJournal(files.journal))?.claim) return runId
    try {
      catchSpoolTrouble(() => makeRunFolder(files))
      const launch = await buildLaunch(run, { hasGpus: false, ...this.#options, files, signal })
      if (launch.limitSeconds > 0) this.#watchdog.ensure()
      const cgroups = this.#cgroups.create(runId, run.spec)
      const { bootId } = this.#machine
      await this.#spawner.spawn({ launch, files, bootId, ...cgroups, streamBytesMax: this.#options.logBytesMax })
    } catch (error) {
      await this.#discard(files)
      throw blameMachine(error)
    }
    return runId
  }

  /** Removes all files of a run. Used if the disk is full, so that neither the server nor a shim can write a claim. */
  async #discard(files: RunFiles): Promise<void> {
    const { directory } = files
    const { log } = this.#options
    try {
      await this.#abandon(files)
    } catch (err) {
      if (err instanceof Outage) throw err
      log.debug({ err, directory }, 'cannot void a run that failed to start')
      await this.#remove(files).catch((error: unknown) =>
        log.warn({ err: error, directory }, 'cannot remove the files of a run that failed to start'),
      )
    }
  }

  /** Prevents the run from starting. Removes its files unless another start took the claim. */
  async #abandon(files: RunFiles): Promise<void> {
    if (this.#voidClaim(files)?.claim?.pid === 0) await this.#remove(files)
  }

  /** Takes the claim for the server; null: the run has no directory. */
  #voidClaim(files: RunFiles): Journal | null {
    if (recordVoid(files.journal, this.#machine.bootId)) return this.#presence.readJournal(files.journal)
    this.#presence.assertHere()
    return null
  }

  async #remove(files: RunFiles): Promise<void> {
    this.#presence.assertHere()
    const journal = this.#presence.readJournal(files.journal)
    const recorded = [journal?.claim?.cgroup ?? [], journal?.limited ?? []].flat()
    await endCgroups(new Set([...recorded, ...this.#cgroups.pathsOf(files.runId)]), this.#clock)
    this.#machine.cleared.delete(files.runId)
    this.#unclaimed.delete(files.runId)
    this.#sampled.delete(files.runId)
    await removeFiles(files)
  }

  /** Removes cgroups of runs without a directory. The directory is always created before the cgroup. */
  #removeLeftoverCgroups(): void {
    for (const runId of this.#cgroups.list())
      if (!existsSync(`${this.#options.spoolDir}/runs/${runId}`) && this.#presence.isHere())
        void endCgroups(this.#cgroups.pathsOf(runId), this.#clock)
  }

  async #observe(files: RunFiles): Promise<Observation> {
    const { runId } = files
    const judge = () => judgeRun(files, () => this.#presence.readJournal(files.journal), this.#machine)
    const observation = await judge()
    if (observation.state !== 'starting') {
      this.#unclaimed.delete(runId)
      return observation
    }
    const seenMs = this.#unclaimed.get(runId) ?? this.#clock.monotonicMs()
    this.#unclaimed.set(runId, seenMs)
    if (this.#clock.monotonicMs() - seenMs < claimMs) return observation
    this.#voidClaim(files)
    return judge()
  }

  #addUnsentClosure(files: RunFiles, observation: Observation): Observation {
    if (observation.state !== 'ended' && observation.state !== 'gone') return observation
    const unsentClosure = readUnsent(files)
    if (unsentClosure !== null) return { ...observation, unsentClosure }
    this.#presence.assertHere()
    return observation
  }

  async #endOverdue(): Promise<void> {
    if (!this.#presence.isHere()) return
    for (const runId of await listRuns(this.#options.spoolDir)) {
      const files = this.#locate(runId)
      const journal = files && readJournal(files.journal)
      if (files && journal && isOverdue(journal, uptime())) await this.#observe(files)
    }
  }

  /** Ends the job. A job that has no process group yet finds the record of the stop before it begins. */
  async #endJob(files: RunFiles, graceMs: number): Promise<void> {
    const journal = this.#presence.readJournal(files.journal)
    if (!journal?.claim || journal.exit) return
    const claimed = { ...journal, claim: journal.claim }
    if (graceMs <= 0) return killJob(files.runId, claimed)
    sendTerm(files.journal, claimed)
  }
}

const sameAccount = 'A job that runs as the account of the server can reach its supervisor and its spool'
const withoutCgroups =
  'The server cannot make cgroups: a process that leaves the session of its job and clears its environment outlives the job'
