import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import { classifyTrouble, Outage } from '../../platform/troubles.ts'
import { spoolMissing } from '../backend/blame-machine.ts'
import { StartFailed } from '../executor.ts'
import { type Journal, readJournal } from './journal.ts'

/**
 * Detects a missing spool. While the data directory is moved or unmounted, every run looks as if its directory had been
 * deleted. So a file counts as missing only while the directory `runs` exists and the file `id` of the data directory
 * contains the same id as at the start. Otherwise the executor does not start, end or report the end of runs.
 */

export interface IdentifiedDirectory {
  path: string
  /** The id that its file `id` contained at the start. */
  id: string
}

/** Interval at which a waiting start checks for the spool. */
const pollMs = 250

export class Presence {
  readonly #runs: string
  /** null: the spool belongs to no data directory. */
  readonly #dataDirectory: IdentifiedDirectory | null
  readonly #log: Log
  #isAway = false

  constructor(spoolDir: string, dataDirectory: IdentifiedDirectory | null, log: Log) {
    this.#runs = join(spoolDir, 'runs')
    this.#dataDirectory = dataDirectory
    this.#log = log
  }

  isHere(): boolean {
    return this.#findProblem() === null
  }

  /** Throws Outage while the spool is missing. */
  assertHere(): void {
    const cause = this.#findProblem()
    if (cause !== null) throw new Outage(spoolMissingMessage, { cause })
  }

  /** Waits until the spool is there. Throws Outage if `unwanted` fires first. */
  async waitUntilHere(clock: Clock, unwanted?: AbortSignal, tell?: (info: string) => void): Promise<void> {
    while (!this.isHere()) {
      if (unwanted?.aborted) this.assertHere()
      tell?.(spoolMissingMessage)
      await clock.sleep(pollMs, unwanted)
    }
  }

  assertHereForStart(): void {
    const cause = this.#findProblem()
    if (cause !== null) throw new StartFailed('NODE_TROUBLE', spoolMissing, { cause })
  }

  /**
   * Reads the journal; null: it is missing. Throws Outage while the spool is missing. If the spool came back between
   * the first read and the check, a second read finds the journal.
   */
  readJournal(path: string): Journal | null {
    for (let reads = 0; reads < 2; reads++) {
      const journal = readJournal(path)
      if (journal) return journal
      this.assertHere()
    }
    return null
  }

  /** Returns null if the spool is there. Logs once when the spool disappears and once when it returns. */
  #findProblem(): Error | null {
    const problem = this.#check()
    const isAway = problem !== null
    if (isAway && !this.#isAway) this.#log.error({ path: this.#runs, cause: problem.message }, spoolMissingMessage)
    if (!isAway && this.#isAway) this.#log.warn({ path: this.#runs }, 'the data directory is back')
    this.#isAway = isAway
    return problem
  }

  #check(): Error | null {
    try {
      if (this.#dataDirectory) {
        const idFile = join(this.#dataDirectory.path, 'id')
        if (readFileSync(idFile, 'utf8').trim() !== this.#dataDirectory.id)
          return new Error(`${idFile} has the id of another data directory`)
      }
      statSync(this.#runs)
      return null
    } catch (error) {
      if (!(error instanceof Error) || classifyTrouble(error)) throw error
      return error
    }
  }
}

export const spoolMissingMessage =
  'The data directory is missing or was replaced. Its local runs continue; their states are unknown until it is back'
