import { existsSync, type FSWatcher, mkdirSync, watch } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { release, uptime } from 'node:os'
import type { Clock, Time } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import { type Executor, type Observation, type RunSpec, StartFailed } from '../executor.ts'
import { type AccountRules, oneUser, separationOf } from './account.ts'
import { type Alarm, Alarms } from './alarms.ts'
import { launchers } from './command.ts'
import { followEnded } from './ended.ts'
import { follow } from './follow.ts'
import { type Claim, isMissing, type Journal, readJournal, recordStop, recordVoid } from './journal.ts'
import { launchOf } from './launch.ts'
import { readBootId, signalGroup } from './processes.ts'
import { spawnShim } from './spawn.ts'
import { endedList, filesOf, type RunFiles, removeFiles } from './spool.ts'
import { isShimAlive, verdictOf } from './verdict.ts'

/**
 * Runs as processes of this machine. They outlive the server: shim.sh is their parent and its specification, the journal
 * of a run the only truth about it. A handle is the run's id.
 *
 * start: make the directory, start a shim, which takes the claim or finds it taken. A crash anywhere leaves a run that
 *   was claimed, or one that nobody claimed and that the next start starts. So it runs once at most, whoever starts it.
 * stop: write the record, then TERM to the group; KILL after the grace is the shim's own watchdog, server or no server.
 * A run without a claim is voided by a claim of the server's: at a stop, and when `claimMs` have passed.
 */
export interface LocalOptions {
  spoolDir: string
  /** Of the server; a job inherits the fixed list of it, and `inheritNames`. */
  environment: Readonly<Record<string, string | undefined>>
  inheritNames?: readonly string[]
  /** Whose processes its runs may be; absent: there is one user. */
  accounts?: AccountRules
  /** The pool has GPUs: a job that got none sees none. */
  hasGpus?: boolean
  /** How long after its maximum run time a run is ended by its own shim, in case no server did. */
  deadlineSlackSeconds?: number
  clock: Clock
  time: Time
  log: Log
}

/** A shim that took no claim for so long never will. */
const claimMs = 30_000
/** How often output is looked for without a sign of the file system. */
const logPollMs = 250
/** The shim kills its group right after its exit record. */
const lastActMs = 5

export async function createLocalExecutor(options: LocalOptions): Promise<Executor> {
  const { spoolDir, clock, time, log } = options
  await mkdir(`${spoolDir}/runs`, { recursive: true, mode: 0o700 })
  const bootId = await readBootId()
  const machine = { bootId, uptimeSeconds: uptime, nowMs: () => time.nowMs() }
  const alarms = new Alarms(clock)
  /** Journals without a claim, and when they were first seen so: the times of files are of a clock that may be set. */
  const unclaimed = new Map<string, number>()
  const ended = await followEnded(endedList(spoolDir), log, (runId) => alarms.ring(runId))
  const closing = new AbortController()
  const either = (signal: AbortSignal) => AbortSignal.any([signal, closing.signal])

  async function start(run: RunSpec): Promise<string> {
    const files = filesOf(spoolDir, run.runId)
    if (!files) throw new StartFailed('BAD_SPEC', `Not the id of a run: ${run.runId}`)
    if (readJournal(files.journal)?.claim) return run.runId
    const { environment, inheritNames = [], hasGpus = false, deadlineSlackSeconds = 10, accounts = oneUser } = options
    const from = {
      environment,
      inheritNames,
      accounts,
      hasGpus,
      bootId,
      deadlineSlackSeconds,
      nodeFile: files.nodeFile,
    }
    mkdirSync(files.directory, { recursive: true, mode: 0o700 })
    try {
      await spawnShim(await launchOf(run, from), files, () => alarms.ring(run.runId))
    } catch (error) {
      await abandon(files)
      throw error
    }
    if (readJournal(files.journal)?.claim) return run.runId
    await abandon(files)
    throw new StartFailed('START_FAILED', 'The process of the run ended before it began')
  }

  /** Nothing runs and nothing will; unless another start took the claim, nothing stays. */
  async function abandon(files: RunFiles): Promise<void> {
    if (voided(files)?.claim?.pid === 0) await removeFiles(files)
  }

  function voided(files: RunFiles): Journal | null {
    recordVoid(files.journal, bootId)
    return readJournal(files.journal)
  }

  /** One that nobody claimed yet will never be: who started it is not there any more to be told. */
  async function find(runId: string): Promise<string | null> {
    const files = filesOf(spoolDir, runId)
    if (!files || !existsSync(files.directory)) return null
    if (readJournal(files.journal)?.claim) return runId
    await abandon(files)
    return readJournal(files.journal) ? runId : null
  }

  async function inspectOne(runId: string): Promise<Observation> {
    const files = filesOf(spoolDir, runId)
    return files ? observe(files) : { state: 'gone' }
  }

  async function observe(files: RunFiles): Promise<Observation> {
    const observation = await verdictOf(() => readJournal(files.journal), machine)
    if (observation.state !== 'starting') unclaimed.delete(files.journal)
    if (observation.state !== 'starting') return observation
    const seenMs = unclaimed.get(files.journal) ?? clock.monotonicMs()
    unclaimed.set(files.journal, seenMs)
    return clock.monotonicMs() - seenMs < claimMs ? observation : verdictOf(() => voided(files), machine)
  }

  async function stop(runId: string, graceMs: number): Promise<void> {
    const files = filesOf(spoolDir, runId)
    const found = files && readJournal(files.journal)
    if (!files || !found) return
    const journal = found.claim ? found : voided(files)
    if (journal?.claim && !journal.exit) await stopClaimed(files, { ...journal, claim: journal.claim }, graceMs)
  }

  async function stopClaimed(files: RunFiles, journal: Journal & { claim: Claim }, graceMs: number): Promise<void> {
    const { claim, stopUp } = journal
    const isVoid = claim.pid === 0
    if (!isVoid && (claim.boot !== bootId || !(await isShimAlive(claim)))) return
    const kills = graceMs <= 0
    const up = uptime() + graceMs / 1000
    if (!kills && stopUp !== null && stopUp <= up) return
    recordStop(files.journal, { graceSeconds: graceMs / 1000, up })
    if (!isVoid) signalGroup(claim.pid, kills ? 'SIGKILL' : 'SIGTERM')
  }

  async function* logs(runId: string, from: unknown, signal: AbortSignal) {
    const files = filesOf(spoolDir, runId)
    if (!files) return
    const stopping = either(signal)
    using alarm = alarms.of(runId)
    const watcher = watchDirectory(files.directory, alarm)
    let pauseMs = logPollMs
    const isOver = async () => {
      const { state } = await observe(files)
      if (state === 'ended' || state === 'gone') return true
      pauseMs = readJournal(files.journal)?.exit ? lastActMs : logPollMs
      return false
    }
    try {
      yield* follow({ files, from, signal: stopping, isOver, wait: () => alarm.wait(pauseMs, stopping) })
    } finally {
      watcher?.close()
    }
  }

  function watchDirectory(directory: string, alarm: Alarm): FSWatcher | null {
    try {
      const watcher = watch(directory, { persistent: false }, () => alarm.ring())
      watcher.on('error', (err) => log.debug({ err, directory }, 'a watch ended; polling meanwhile'))
      return watcher
    } catch (err) {
      if (!isMissing(err)) log.warn({ err, directory }, 'cannot watch the output of a run; polling it')
      return null
    }
  }

  return {
    name: 'local',
    start,
    find,
    inspect: (handles) => Promise.all(handles.map(inspectOne)),
    logs,
    stop,
    watch: (signal) => alarms.keys(either(signal)),
    async forget(runId) {
      const files = filesOf(spoolDir, runId)
      if (!files) return
      unclaimed.delete(files.journal)
      await removeFiles(files)
    },
    describe: async () => ({
      version: release(),
      available: true,
      message: sentences([
        'Limits of cpu and memory are planned with, not enforced',
        separationOf(options.accounts ?? oneUser),
      ]),
      launchers,
    }),
    async close() {
      closing.abort()
      await ended.close()
    },
  }
}

const sentences = (parts: readonly (string | null)[]) => parts.filter((part) => part !== null).join('. ')
