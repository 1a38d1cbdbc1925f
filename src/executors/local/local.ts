import { existsSync } from 'node:fs'
import { release, uptime } from 'node:os'
import type { Clock, Time } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import { createLoop } from '../../platform/loop.ts'
import { Outage } from '../../platform/troubles.ts'
import { type AccountRules, describeSeparation, oneUser } from '../accounts/account.ts'
import { Alarms } from '../backend/alarms.ts'
import { blameMachine } from '../backend/machine-trouble.ts'
import {
  type Executor,
  type ExecutorDescription,
  type Handle,
  type LogChunk,
  type Observation,
  type RunSpec,
  StartFailed,
} from '../executor.ts'
import { createCgroupLimiting, type Limiting, limitNames, noLimits } from './cgroup-limits.ts'
import { type Cgroups, endCgroups, openCgroups } from './cgroups.ts'
import { type Journal, readJournal, recordStop, recordVoid } from './journal.ts'
import { buildLaunch } from './launch.ts'
import { findAddress } from './machine.ts'
import { readOutput } from './output.ts'
import { type IdentifiedDirectory, Presence, spoolMissingMessage } from './presence.ts'
import { readBootId } from './processes.ts'
import { deadlineGraceSeconds } from './spawn.ts'
import { Spawner } from './spawner.ts'
import { listRuns, locateFiles, makeRunFolder, makeRuns, type RunFiles, removeFiles } from './spool.ts'
import { catchSpoolTrouble } from './start-failure.ts'
import { findShim, isOverdue, killJob, sendTerm, type WatchedMachine } from './supervision.ts'
import { readUnsent } from './unsent-closures.ts'
import { judgeRun } from './verdict.ts'
import { Watchdog } from './watchdog.ts'

/**
 * Runs as processes of this machine. They outlive the server: shim.sh is their parent and its specification, and the
 * journal of a run is the only truth about it. A handle is the run's id.
 *
 * - start: makes the directory and starts a shim, which takes the claim or finds it taken. A crash at any point leaves
 *   a claimed run, or an unclaimed run that the next start starts. So the command runs at most once.
 * - stop: writes the record, then sends TERM to the group of the job; if the server is killed in between, the next server
 *   sends it. At the end of the grace this server or the next one kills the whole job (supervision.ts), whether it leads or
 *   not; while no server runs, the watchdog does (watchdog.sh). The same holds for the fallback deadline of a run.
 *
 * A run without a claim is voided by a claim of the server: at a stop, and after `claimMs`.
 *
 * A job can reach its own processes and the write ends of its two output pipes. The supervisor and the
 * readers of its output are processes of the server's account in another session, and outside of the job's cgroup;
 * spool and journal belong to the server, in folders with mode 0700. So a job of another account cannot touch them.
 */

export interface LocalOptions {
  spoolDir: string
  /** Absent: only the spool itself is checked. */
  dataDirectory?: IdentifiedDirectory
  /** Environment of the server; a job inherits the fixed list of it, and `inheritNames`. */
  environment: Readonly<Record<string, string | undefined>>
  inheritNames?: readonly string[]
  /** Which accounts its runs may use; absent: there is one user. */
  accounts?: AccountRules
  /** The pool has GPUs: a job without GPUs sees none. */
  hasGpus?: boolean
  /** Time after its maximum run time at which a run is ended also without a leader. */
  deadlineSlackSeconds?: number
  /** How much of each output stream is kept on disk; the rest is counted and dropped. */
  logBytesMax?: number
  /** false: as on a machine where no cgroup can be made. */
  usesCgroups?: boolean
  clock: Clock
  time: Time
  log: Log
}

const streamBytesMaxDefault = 16 * 1024 ** 3
/** A shim that has not taken its claim for this long never will. */
const claimMs = 30_000
/** How often a server that follows no run, because it does not lead, looks for overdue runs. */
const overduePollMs = 2_000

export async function createLocalExecutor(options: LocalOptions): Promise<LocalExecutor> {
  await makeRuns(options.spoolDir)
  const executor = new LocalExecutor(options, await readBootId())
  await executor.open()
  return executor
}

export class LocalExecutor implements Executor {
  readonly name = 'local'
  readonly #options: LocalOptions
  readonly #clock: Clock
  readonly #presence: Presence
  readonly #machine: WatchedMachine
  readonly #cgroups: Cgroups | null
  readonly #limiting: Limiting
  readonly #watchdog: Watchdog
  readonly #alarms: Alarms
  readonly #spawner: Spawner
  readonly #overdue: ReturnType<typeof createLoop>
  /** When this server first saw journals without a claim: times of files depend on a clock that may be set. */
  readonly #unclaimed = new Map<string, number>()
  readonly #closing = new AbortController()

  constructor(options: LocalOptions, bootId: string) {
    const { spoolDir, clock, time, log, dataDirectory = null, usesCgroups = true } = options
    this.#options = options
    this.#clock = clock
    this.#presence = new Presence({ spoolDir, dataDirectory, log })
    this.#machine = {
      bootId,
      uptimeSeconds: uptime,
      nowMs: () => time.nowMs(),
      ip: findAddress(),
      cleared: new Set(),
    }
    this.#cgroups = usesCgroups ? openCgroups(spoolDir) : null
    this.#limiting = usesCgroups ? createCgroupLimiting(spoolDir, this.#cgroups) : noLimits
    this.#watchdog = new Watchdog({ spoolDir, graceSeconds: deadlineGraceSeconds, clock })
    this.#alarms = new Alarms(clock)
    this.#spawner = new Spawner(spoolDir, clock, (runId) => this.#alarms.ring(runId))
    const runOnce = () => this.#endOverdue()
    this.#overdue = createLoop({ name: 'overdue runs', pollMs: overduePollMs, runOnce, clock, log })
  }

  /** Takes over the runs in the spool. */
  async open(): Promise<void> {
    if ((await listRuns(this.#options.spoolDir)).length > 0) this.#watchdog.ensure()
    this.#removeLeftoverCgroups()
    this.#overdue.start()
  }

  /**
   * A run that an earlier leader may have started is unknown while the spool is away, and so is a run that was being
   * started when the spool disappeared. Both wait here: a failure would start the job again beside it.
   */
  async start(run: RunSpec, unwanted?: AbortSignal, tell?: (info: string) => void): Promise<Handle> {
    const files = this.#locate(run.runId)
    if (!files) throw new StartFailed('BAD_SPEC', `Not the id of a run: ${run.runId}`)
    if (!run.inherited) this.#presence.assertHereForStart()
    for (;;) {
      await this.#presence.waitUntilHere(this.#clock, unwanted, tell)
      try {
        return await this.#startHere(run, files)
      } catch (error) {
        if (!(error instanceof Outage) && this.#presence.isHere()) throw error
      }
    }
  }

  /** An unclaimed run of a server that died never starts: it is voided. */
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
    // Nothing inspects the run between the record and TERM: an inspection would send TERM as well.
    if (!recordStop(files.journal, { graceSeconds: graceMs / 1000, up })) this.#presence.assertHere()
    if (graceMs > 0) this.#watchdog.ensure()
    if (shim) await this.#endJob(files, graceMs)
  }

  async forget(runId: Handle): Promise<void> {
    const files = this.#locate(runId)
    if (files) await this.#remove(files)
  }

  async list(): Promise<{ runId: string; handle: Handle }[]> {
    this.#presence.assertHere()
    return (await listRuns(this.#options.spoolDir)).map((runId) => ({ runId, handle: runId }))
  }

  async describe(): Promise<ExecutorDescription> {
    const available = this.#presence.isHere()
    const unenforced = limitNames.filter((name) => !this.#limiting.kept.includes(name))
    const sentences = [
      available ? null : spoolMissingMessage,
      unenforced.length === 0 ? null : `${unenforced.join(', ')}: planned with, not enforced`,
      this.#cgroups === null ? withoutCgroups : null,
      sameAccount,
      describeSeparation(this.#options.accounts ?? oneUser),
    ]
    const message = sentences.filter((sentence) => sentence !== null).join('. ')
    return { version: release(), available, unenforced, message }
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#overdue.stop()
    this.#spawner.close()
    this.#watchdog.close()
    this.#limiting.close()
    this.#cgroups?.close()
  }

  #locate(runId: string): RunFiles | null {
    return locateFiles(this.#options.spoolDir, runId)
  }

  async #startHere(run: RunSpec, files: RunFiles): Promise<Handle> {
    const { runId } = run
    if (catchSpoolTrouble(() => this.#presence.readJournal(files.journal))?.claim) return runId
    try {
      catchSpoolTrouble(() => makeRunFolder(files))
      const { environment, inheritNames = [], hasGpus = false, deadlineSlackSeconds = 10 } = this.#options
      const { accounts = oneUser, logBytesMax = streamBytesMaxDefault } = this.#options
      const from = { environment, inheritNames, accounts, hasGpus, deadlineSlackSeconds, files }
      const launch = await buildLaunch(run, from)
      if (launch.limitSeconds > 0) this.#watchdog.ensure()
      const cgroup = this.#cgroups?.create(runId) ?? null
      const limited = this.#limiting.impose({ runId, cgroup, spec: run.spec })
      const { bootId } = this.#machine
      await this.#spawner.spawn({ launch, files, bootId, cgroup, limited, streamBytesMax: logBytesMax })
    } catch (error) {
      await this.#discard(files)
      throw blameMachine(error)
    }
    return runId
  }

  /** On a full disk neither the server nor a shim can write a claim; then all files are removed. */
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

  /** The run does not start any more; unless another start took the claim, its files are removed. */
  async #abandon(files: RunFiles): Promise<void> {
    if (this.#voidClaim(files)?.claim?.pid === 0) await this.#remove(files)
  }

  /** null: the run has no directory. */
  #voidClaim(files: RunFiles): Journal | null {
    if (recordVoid(files.journal, this.#machine.bootId)) return this.#presence.readJournal(files.journal)
    this.#presence.assertHere()
    return null
  }

  async #remove(files: RunFiles): Promise<void> {
    this.#presence.assertHere()
    const journal = this.#presence.readJournal(files.journal)
    const cgroup = journal?.claim?.cgroup ?? this.#cgroups?.pathOf(files.runId)
    const limited = journal?.limited.length ? journal.limited : this.#limiting.pathsOf(files.runId)
    await endCgroups([cgroup, ...limited], this.#clock)
    this.#machine.cleared.delete(files.runId)
    this.#unclaimed.delete(files.runId)
    await removeFiles(files)
  }

  /** A cgroup is made after the directory of its run, so a cgroup without a directory is a leftover. */
  #removeLeftoverCgroups(): void {
    for (const runId of new Set([...(this.#cgroups?.list() ?? []), ...this.#limiting.list()]))
      if (!existsSync(`${this.#options.spoolDir}/runs/${runId}`) && this.#presence.isHere())
        void endCgroups([this.#cgroups?.pathOf(runId), ...this.#limiting.pathsOf(runId)], this.#clock)
  }

  async #observe(files: RunFiles): Promise<Observation> {
    const { runId } = files
    const run = { files, read: () => this.#presence.readJournal(files.journal) }
    const observation = await judgeRun(run, this.#machine)
    if (observation.state !== 'starting') {
      this.#unclaimed.delete(runId)
      return observation
    }
    const seenMs = this.#unclaimed.get(runId) ?? this.#clock.monotonicMs()
    this.#unclaimed.set(runId, seenMs)
    if (this.#clock.monotonicMs() - seenMs < claimMs) return observation
    this.#voidClaim(files)
    return judgeRun(run, this.#machine)
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
      if (files && journal && isOverdue(journal, this.#machine.uptimeSeconds())) await this.#observe(files)
    }
  }

  /** A job that has no group yet finds the record of the stop before it begins. */
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
