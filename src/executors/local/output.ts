import { basename } from 'node:path'
import type { Clock } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import { Outage } from '../../platform/troubles.ts'
import type { Alarm } from '../backend/alarms.ts'
import { watchDirectory } from '../backend/directory-watch.ts'
import { followSpool } from '../backend/spool-reader.ts'
import type { LogChunk, Observation } from '../executor.ts'
import { readJournal, trackLosses } from './journal.ts'
import type { Presence } from './presence.ts'
import { openSpool, type RunFiles } from './spool.ts'

interface OutputOptions {
  files: RunFiles
  from: unknown
  signal: AbortSignal
  alarm: Alarm
  presence: Presence
  /** true: the process that started the run will report its end. */
  isWatched: () => boolean
  observe: () => Promise<Observation>
  clock: Clock
  log: Log
}

/** Pause between reads while no file system events arrive. */
const pollMs = 250
/** Longer interval, used while file system events arrive and the end of the run will be reported. */
const watchedPollMs = 1_000
/** After its exit record, the shim kills its group within this time. */
const lastActMs = 5

export async function* readOutput(options: OutputOptions): AsyncGenerator<LogChunk> {
  const { files, from, signal, alarm, presence, clock, log } = options
  while (!presence.isHere() && !signal.aborted) await clock.sleep(pollMs, signal)
  if (signal.aborted) return
  const { directory } = files
  const names = [files.stdout, files.stderr].map((path) => basename(path))
  const watcher = watchDirectory({ directory, isRelevant: (name) => names.includes(name), alarm, log })
  let hasEvents = watcher !== null
  watcher?.once('error', () => {
    hasEvents = false
  })
  const nextMs = () => (hasEvents && options.isWatched() ? watchedPollMs : pollMs)
  let pauseMs = nextMs()
  let lookedMs = Number.NEGATIVE_INFINITY
  const isOver = async () => {
    // The spawner reports the end of the run, so the run need not be inspected after each read.
    if (options.isWatched() && clock.monotonicMs() - lookedMs < watchedPollMs) return false
    lookedMs = clock.monotonicMs()
    const { state } = await observeOrWait(options)
    if (state === 'ended' || state === 'gone') return true
    const isEnding = !options.isWatched() && readJournal(files.journal)?.exit
    pauseMs = isEnding ? lastActMs : nextMs()
    return false
  }
  const spool = openFiles(options)
  try {
    const losses = trackLosses(files.journal)
    yield* followSpool({ spool, from, losses, signal, isOver, wait: () => alarm.wait(pauseMs, signal) })
  } finally {
    watcher?.close()
    spool?.close()
  }
}

/** Observes the run. Waits while the spool is missing, because the run does not count as ended then. */
async function observeOrWait({ observe }: OutputOptions): Promise<Pick<Observation, 'state'>> {
  try {
    return await observe()
  } catch (error) {
    if (error instanceof Outage) return { state: 'running' }
    throw error
  }
}

/** Opens the spool; null: the files of the run were removed. */
function openFiles({ files, presence }: OutputOptions): ReturnType<typeof openSpool> {
  const spool = openSpool(files)
  if (spool) return spool
  presence.assertHere()
  return openSpool(files)
}
