import { existsSync, mkdirSync } from 'node:fs'
import { networkInterfaces, release, uptime } from 'node:os'
import type { Clock, Time } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import { createLoop } from '../../platform/loop.ts'
import { Outage } from '../../platform/troubles.ts'
import { type AccountRules, describeSeparation, oneUser } from '../accounts/account.ts'
import { Alarms } from '../backend/alarms.ts'
import { readErrorCode } from '../backend/file-errors.ts'
import { blameMachine } from '../backend/machine-trouble.ts'
import { type Executor, type ExecutorDescription, type Observation, type RunSpec, StartFailed } from '../executor.ts'
import { limitNames, noLimits, openLimits } from './cgroup-limits.ts'
import { killCgroup, openCgroups, removeCgroup } from './cgroups.ts'
import { followEnded } from './ended-runs.ts'
import { type Journal, readJournal, recordStop, recordVoid } from './journal.ts'
import { launchOf } from './launch.ts'
import { readOutput } from './output.ts'
import { awayMessage, type HomeDirectory, Presence } from './presence.ts'
import { readBootId } from './processes.ts'
import { deadlineGraceSeconds } from './spawn.ts'
import { createSpawner } from './spawner.ts'
import { endedList, filesOf, listRuns, makeRuns, type RunFiles, removeFiles, sizesOf, waitsForDisk } from './spool.ts'
import { ofSpool } from './start-failure.ts'
import { readUnsent } from './unsent-closures.ts'
import { verdictOf } from './verdict.ts'
import { type Claimed, isOverdue, killJob, seeShim, terminate, type WatchedMachine, type WatchedRun } from './watch.ts'
import { createHeir } from './watchdog.ts'

/**
 * Runs as processes of this machine. They outlive the server: shim.sh is their parent and its specification, and the
 * journal of a run is the only truth about it. A handle is the run's id.
 *
 * - start: makes the directory and starts a shim, which takes the claim or finds it taken. A crash at any point leaves
 *   a run that is claimed, or one that is unclaimed and that the next start starts. So it runs at most once.
 * - stop: writes the record, then sends TERM to the group of the job; if it is killed in between, the next server sends it.
 *   At the end of the grace this server or the next one sends KILL to the whole job (watch.ts), whether it leads or not, or
 *   the heir of the server does (heir.ts). The same holds for the fallback deadline of a run.
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
  dataDirectory?: HomeDirectory
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
/** A shim that has taken no claim for this long never will. */
const claimMs = 30_000
/** How often a server that follows no run, since it does not lead, looks for runs whose time is over. */
const overdueLookMs = 2_000
export async function createLocalExecutor(options: LocalOptions): Promise<Executor> {
  const { spoolDir, clock, time, log } = options
  await makeRuns(spoolDir)
  const presence = new Presence({ spoolDir, dataDirectory: options.dataDirectory ?? null, log })
  const machine = machineNow(await readBootId(), time)
  const { bootId } = machine
  const cgroups = options.usesCgroups === false ? null : openCgroups(spoolDir)
  const limiting = options.usesCgroups === false ? noLimits : openLimits(spoolDir, cgroups)
  const heir = createHeir({ spoolDir, graceSeconds: deadlineGraceSeconds, clock })
  if ((await listRuns(spoolDir)).length > 0) heir.ensure()
  endLeftovers()
  const alarms = new Alarms(clock)
  const unenforced = limitNames.filter((name) => !limiting.kept.includes(name))
  const spawner = createSpawner(spoolDir, clock, (runId) => alarms.ring(runId))
  /** When journals without a claim were first seen by this server: times of files depend on a clock that may be set. */
  const unclaimed = new Map<string, number>()
  const ended = await followEnded(endedList(spoolDir), log, (runId) => {
    // The spawner tells it when nothing is left of the shim.
    if (!spawner.watches(runId)) alarms.ring(runId)
  })
  const closing = new AbortController()

  /** A cgroup is made after the directory of its run, so a cgroup without one is a leftover. */
  function endLeftovers(): void {
    for (const runId of new Set([...(cgroups?.list() ?? []), ...limiting.list()]))
      if (!existsSync(`${spoolDir}/runs/${runId}`) && presence.isHere())
        void endCgroups([cgroups?.pathOf(runId), ...limiting.pathsOf(runId)], clock)
  }

  /**
   * A run that an earlier leader may have started is unknown while the spool is away, and so is one that was being started
   * when the spool disappeared. Both wait here: a failure would start the job again beside it.
   */
  async function start(run: RunSpec, unwanted?: AbortSignal, tell?: (info: string) => void): Promise<string> {
    const files = filesOf(spoolDir, run.runId)
    if (!files) throw new StartFailed('BAD_SPEC', `Not the id of a run: ${run.runId}`)
    if (!run.inherited) presence.demandForStart()
    for (;;) {
      await presence.untilHere(clock, unwanted, tell)
      try {
        return await startHere(run, files)
      } catch (error) {
        if (!(error instanceof Outage) && presence.isHere()) throw error
      }
    }
  }

  async function startHere(run: RunSpec, files: RunFiles): Promise<string> {
    if (isClaimed(files)) return run.runId
    const { environment, inheritNames = [], hasGpus = false, deadlineSlackSeconds = 10, accounts = oneUser } = options
    const from = {
      environment,
      inheritNames,
      accounts,
      hasGpus,
      deadlineSlackSeconds,
      files,
    }
    try {
      ofSpool(() => makeFolder(files.directory))
      const launch = await launchOf(run, from)
      if (launch.limitSeconds > 0) heir.ensure()
      const cgroup = cgroups?.create(run.runId) ?? null
      await spawner.spawn({
        launch,
        files,
        bootId,
        cgroup,
        limited: limiting.impose({ runId: run.runId, cgroup, spec: run.spec }),
        streamBytesMax: options.logBytesMax ?? streamBytesMaxDefault,
      })
    } catch (error) {
      await discard(files)
      throw blameMachine(error)
    }
    return run.runId
  }

  function isClaimed(files: RunFiles): boolean {
    return ofSpool(() => presence.readJournal(files.journal))?.claim != null
  }

  /** On a full disk neither the server nor a shim can write a claim; then all files are removed. */
  async function discard(files: RunFiles): Promise<void> {
    try {
      await abandon(files)
    } catch (err) {
      if (err instanceof Outage) throw err
      log.debug({ err, directory: files.directory }, 'a run that did not start cannot be voided')
      await removeRun(files).catch((error: unknown) =>
        log.warn({ err: error, directory: files.directory }, 'the files of a run that did not start stay'),
      )
    }
  }

  /** The run does not start any more; unless another start took the claim, all its files are removed. */
  async function abandon(files: RunFiles): Promise<void> {
    if (voided(files)?.claim?.pid === 0) await removeRun(files)
  }

  async function removeRun(files: RunFiles): Promise<void> {
    presence.demand()
    const journal = presence.readJournal(files.journal)
    const limited = journal?.limited ?? []
    await endCgroups(
      [
        journal?.claim?.cgroup ?? cgroups?.pathOf(files.runId),
        ...(limited.length > 0 ? limited : limiting.pathsOf(files.runId)),
      ],
      clock,
    )
    machine.cleared.delete(files.runId)
    unclaimed.delete(files.journal)
    await removeFiles(files)
  }

  const watched = (files: RunFiles): WatchedRun => ({
    runId: files.runId,
    journalPath: files.journal,
    sizes: () => sizesOf(files),
    waitsForDisk: () => waitsForDisk(files),
    read: () => presence.readJournal(files.journal),
  })

  function voided(files: RunFiles): Journal | null {
    if (recordVoid(files.journal, bootId)) return presence.readJournal(files.journal)
    presence.demand()
    return null
  }

  /** An unclaimed run of a server that died never starts: it is voided. */
  async function find(runId: string): Promise<string | null> {
    const files = filesOf(spoolDir, runId)
    if (!files) return null
    if (presence.readJournal(files.journal)?.claim) return runId
    if (!existsSync(files.directory)) return null
    await abandon(files)
    return presence.readJournal(files.journal) ? runId : null
  }

  async function inspectOne(runId: string): Promise<Observation> {
    const files = filesOf(spoolDir, runId)
    return files ? withUnsent(files, await observe(files)) : { state: 'gone' }
  }

  function withUnsent(files: RunFiles, observation: Observation): Observation {
    if (observation.state !== 'ended' && observation.state !== 'gone') return observation
    const unsentClosure = readUnsent(files)
    if (unsentClosure === null) presence.demand()
    return unsentClosure === null ? observation : { ...observation, unsentClosure }
  }

  async function observe(files: RunFiles): Promise<Observation> {
    const observation = await verdictOf(watched(files), machine)
    if (observation.state !== 'starting') unclaimed.delete(files.journal)
    if (observation.state !== 'starting') return observation
    const seenMs = unclaimed.get(files.journal) ?? clock.monotonicMs()
    unclaimed.set(files.journal, seenMs)
    if (clock.monotonicMs() - seenMs < claimMs) return observation
    voided(files)
    return verdictOf(watched(files), machine)
  }

  async function endOverdue(): Promise<void> {
    if (!presence.isHere()) return
    for (const runId of await listRuns(spoolDir)) {
      const files = filesOf(spoolDir, runId)
      const journal = files && readJournal(files.journal)
      if (files && journal && isOverdue(journal, machine.uptimeSeconds())) await observe(files)
    }
  }
  const overdue = createLoop({ name: 'overdue runs', pollMs: overdueLookMs, runOnce: endOverdue, clock, log })
  overdue.start()

  async function stop(runId: string, graceMs: number): Promise<void> {
    const files = filesOf(spoolDir, runId)
    const found = files && presence.readJournal(files.journal)
    if (!files || !found) return
    const journal = found.claim ? found : voided(files)
    if (!journal?.claim || journal.exit || journal.claim.boot !== bootId) return
    const up = uptime() + graceMs / 1000
    if (graceMs > 0 && journal.stopUp !== null && journal.stopUp <= up) return
    const shim = await seeShim(journal.claim)
    // No look at the run comes between the record and TERM: it would send TERM as well.
    if (!recordStop(files.journal, { graceSeconds: graceMs / 1000, up })) presence.demand()
    if (graceMs > 0) heir.ensure()
    if (shim) await end(files, graceMs)
  }

  /** A job that has no group yet finds the record of the stop before it begins. */
  async function end(files: RunFiles, graceMs: number): Promise<void> {
    const journal = presence.readJournal(files.journal)
    if (!journal?.claim || journal.exit) return
    const claimed: Claimed = { ...journal, claim: journal.claim }
    if (graceMs <= 0) return killJob(files.runId, claimed)
    terminate(files.journal, claimed)
  }

  async function* logs(runId: string, from: unknown, signal: AbortSignal) {
    const files = filesOf(spoolDir, runId)
    if (!files) return
    using alarm = alarms.of(runId)
    yield* readOutput({
      files,
      from,
      signal: AbortSignal.any([signal, closing.signal]),
      alarm,
      presence,
      isWatched: () => spawner.watches(runId),
      observe: () => observe(files),
      clock,
      log,
    })
  }

  async function describe(): Promise<ExecutorDescription> {
    const available = presence.isHere()
    const message = sentences([
      available ? null : awayMessage,
      unenforced.length === 0 ? null : `${unenforced.join(', ')}: planned with, not enforced`,
      cgroups === null ? withoutCgroups : null,
      sameAccount,
      describeSeparation(options.accounts ?? oneUser),
    ])
    return { version: release(), available, unenforced, message }
  }

  return {
    name: 'local',
    start,
    find,
    inspect: (handles) => Promise.all(handles.map(inspectOne)),
    logs,
    stop,
    async forget(runId) {
      const files = filesOf(spoolDir, runId)
      if (files) await removeRun(files)
    },
    async list() {
      presence.demand()
      return (await listRuns(spoolDir)).map((runId) => ({ runId, handle: runId }))
    },
    describe,
    async close() {
      closing.abort()
      await overdue.stop()
      spawner.close()
      heir.close()
      limiting.close()
      cgroups?.close()
      await ended.close()
    },
  }
}

/** Never the folders above it: without them the spool is away. */
function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (readErrorCode(error) !== 'EEXIST') throw error
  }
}

/** The cgroups of a run that is over are empty; processes of a killed run may need a moment to die. */
async function endCgroups(paths: readonly (string | undefined)[], clock: Clock): Promise<void> {
  for (const path of paths) {
    if (path === undefined) continue
    killCgroup(path)
    for (let looks = 0; looks < 50 && !removeCgroup(path); looks++) await clock.sleep(20)
  }
}

function machineNow(bootId: string, time: Time): WatchedMachine {
  return { bootId, uptimeSeconds: uptime, nowMs: () => time.nowMs(), ip: addressOfMachine(), cleared: new Set() }
}

/** The first address that others may reach, of version 4 if there is one. */
function addressOfMachine(): string | null {
  const addresses = Object.values(networkInterfaces()).flatMap(
    (each) => each?.filter(({ internal }) => !internal) ?? [],
  )
  return (addresses.find(({ family }) => family === 'IPv4') ?? addresses[0])?.address ?? null
}

const sentences = (parts: readonly (string | null)[]) => parts.filter((part) => part !== null).join('. ')

const sameAccount = 'A job that runs as the account of the server can reach its own supervisor and its spool'
const withoutCgroups =
  'No cgroup can be made here: a process of a job that leaves its session and wipes its environment is not ended with the job'
